#!/bin/bash
# A machine with systemd as its first process, on a base system whose changes are kept in memory: boot-machine.sh NAME BASE [option
# of systemd-nspawn...]. It runs in a process namespace of its own, whose first process this is, and lasts as long as the standard
# input is open. A machine that reboots finds its changes again.
set -eu
name=$1 base=$2
shift 2
# systemd wants cgroup2 alone; where the host has both, it gets a view of its own.
umount --recursive /sys/fs/cgroup 2>/dev/null || true
mount -t cgroup2 none /sys/fs/cgroup
mkdir -p "/sys/fs/cgroup/$name"
echo 0 >"/sys/fs/cgroup/$name/cgroup.procs"
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=755 tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay -o lowerdir="$base",upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/root
(
  status=133
  while [ "$status" -eq 133 ]; do
    status=0
    systemd-nspawn --quiet --directory=/mnt/root --machine="$name" --hostname="$name" --keep-unit --register=no \
      --resolv-conf=off --timezone=off --link-journal=no --console=pipe "$@" --boot </dev/null || status=$?
  done
  echo "systemd-nspawn: exit status $status" >&2
) &
cat >/dev/null
