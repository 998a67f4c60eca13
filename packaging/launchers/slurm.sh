# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# `srun -n 2 xrc-compat run` on a Slurm cluster of one node, without control groups.
. "$(dirname "$0")/common.sh"
needed slurmctld slurmd slurm-client munge

case $(slurmd -V) in
*' 2'[0-3].*) skip "this Slurm needs control groups: $(slurmd -V)" ;;
esac

node=$(hostname)
echo "127.0.0.1 $node" >>/etc/hosts
mkdir -p /etc/slurm /run/munge /var/spool/slurmd /var/spool/slurmctld
echo CgroupPlugin=disabled >/etc/slurm/cgroup.conf
cat >/etc/slurm/slurm.conf <<CONF
ClusterName=bundle
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
NodeName=$node NodeAddr=127.0.0.1 CPUs=2
PartitionName=all Nodes=ALL Default=YES
# Unusual ports, because the network is the machine's.
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurm.log
SlurmdLogFile=/var/log/slurm.log
CONF
[ -e /etc/munge/munge.key ] || (umask 077 && head -c 1024 /dev/urandom >/etc/munge/munge.key)
chown -R munge: /etc/munge /run/munge
setpriv --reuid munge --regid munge --clear-groups munged
slurmctld
slurmd
wait_for "Slurm's node is not idle" /var/log/slurm.log sh -c 'sinfo --noheader --format=%t | grep -qx idle'

# Split into words.
# shellcheck disable=SC2086,SC2016
{
	tried "srun, the command in front of the program" 2 $user srun -n 2 \
		$X/bin/xrc-compat run --softhca=2 -- $demo -n 2
	tried "srun env LD_PRELOAD" 2 $user $X/bin/softhca run --devices=2 -- sh -c '
		exec srun -n 2 env LD_PRELOAD="$X/\$LIB/xrc-compat/libxrc-compat.so.1:$LD_PRELOAD" \
			$demo -n 2'
}
