"""A Slurm of its own on this machine, with nodes that are all this machine: daemons, ports, key and folders, gone at the end."""
import os
import pathlib
import random
import shutil
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "salloc", "sbatch", "scancel", "scontrol", "sinfo", "squeue")

CONF = """ClusterName=megaup
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
TmpFS={folder}/tmp.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=pmix
FirstJobId={first_job}
ReturnToService=2
SlurmdParameters=config_overrides
{nodes}
PartitionName=test Nodes=ALL Default=YES State=UP OverSubscribe=FORCE
"""


def program(name):
    """Daemons live outside of a user's path."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def reason_for_none():
    """Why there can be no Slurm here; empty if there can."""
    missing = [name for name in PROGRAMS if program(name) is None]
    if missing:
        return f"there is no Slurm ({', '.join(missing)}): install slurm-wlm munge libpmix2"
    return "" if os.geteuid() == 0 else "Slurm's daemons need root"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Cluster:
    def __init__(self, folder, nodes=("one", "two")):
        self.folder, self.nodes, self.daemons = pathlib.Path(folder), nodes, []
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self):
        """Again with other ports if a daemon finds its port taken meanwhile."""
        for attempts_left in (2, 1, 0):
            self.write_files()
            self.start_daemons()
            if self.is_idle():
                return
            if attempts_left == 0 or all(daemon.poll() is None for daemon in self.daemons):
                raise RuntimeError("the nodes do not become idle:\n" + "\n".join(p.read_text()[-1000:] for p in self.folder.glob("*.log")))
            self.stop_daemons()

    def start_daemons(self):
        self.daemon("munged", "--foreground", "--force", f"--key-file={self.folder}/munge.key", f"--socket={self.folder}/munge.socket",
                    f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed")
        self.daemon("slurmctld", "-D", "-i")
        for node in self.nodes:
            self.daemon("slurmd", "-D", "-N", node, TMPDIR=str(self.folder / f"tmp.{node}"))

    def is_idle(self):
        for _ in range(600):
            if self.call("sinfo", "-h", "-o", "%D %t").stdout.split() == [str(len(self.nodes)), "idle"]:
                return True
            if any(daemon.poll() is not None for daemon in self.daemons):
                return False
            time.sleep(0.1)
        return False

    def write_files(self):
        for name in ["state", *(f"{kind}.{node}" for node in self.nodes for kind in ("spool", "tmp"))]:
            (self.folder / name).mkdir(exist_ok=True)
        port, *ports = free_ports(1 + len(self.nodes))
        lines = [f"NodeName={node} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={port} CPUs=4 State=UNKNOWN" for node, port in zip(self.nodes, ports)]
        # Open MPI names files in /dev/shm by job: two clusters at the same time must not have the same jobs.
        (self.folder / "slurm.conf").write_text(CONF.format(host=socket.gethostname(), port=port, first_job=random.randrange(1, 60_000_000),
                                                           folder=self.folder, nodes="\n".join(lines)))
        if not (self.folder / "munge.key").exists():
            (self.folder / "munge.key").write_bytes(os.urandom(1024))
            (self.folder / "munge.key").chmod(0o400)

    def daemon(self, name, *arguments, **environment):
        self.daemons.append(subprocess.Popen([program(name), *arguments], env=os.environ | self.environment | environment,
                                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def call(self, *command):
        return subprocess.run(command, env=os.environ | self.environment, capture_output=True, text=True, timeout=60)

    def cancel_all(self):
        """What a failed test left: its ranks would outlive the daemons."""
        self.call("scancel", "--me")
        for _ in range(300):
            if not self.call("squeue", "-h").stdout.strip():
                return
            time.sleep(0.1)

    def stop(self):
        if self.daemons and all(daemon.poll() is None for daemon in self.daemons):
            self.cancel_all()
        self.stop_daemons()

    def stop_daemons(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons = []
