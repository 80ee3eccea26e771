#!/bin/bash
# Where podman runs without touching this machine: namespaces of its own for mounts, processes and network, of which this is the
# first process: container-machine.sh DIRECTORY. It prints its process id out here, and lasts as long as the standard input is open.
set -eu
read -r pid _ </proc/self/stat
mount -t proc proc /proc
# crun wants cgroup2 alone; where the host has both, it gets a view of its own, in which nothing is made.
umount --recursive /sys/fs/cgroup 2>/dev/null || true
mount -t cgroup2 none /sys/fs/cgroup
name_servers=$(cat /etc/resolv.conf)
mount -t tmpfs -o mode=755 tmpfs /run
place=$(readlink --canonicalize-missing /etc/resolv.conf)
if [ ! -e "$place" ]; then
  mkdir -p "${place%/*}"
  echo "$name_servers" >"$place"
fi
# podman's locks
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mkdir -p /var/lib/containers
mount -t tmpfs -o mode=755 tmpfs /var/lib/containers
echo '127.0.0.1 localhost' >"$1/hosts"
mount --bind "$1/hosts" /etc/hosts
ip link set lo up
echo "$pid"
cat >/dev/null
