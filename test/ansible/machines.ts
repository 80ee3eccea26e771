// Machines as Ansible reaches them: a cable from each to the hub, and an sshd for each connection.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runTool } from '../support/processes.ts'
import type { SystemdMachine } from '../machines/support/systemd-machine.ts'

/** What a machine needs to be one that Ansible manages. */
export const MACHINE_PACKAGES = ['openssh-server', 'python3', 'python3-apt'] as const

const HUB_NAME = 'hub.example.org'
const ENTER = ['mount', 'uts', 'ipc', 'net', 'pid', 'cgroup', 'root', 'wd']

/** Each has a network of its own with the hub. */
export async function connectToHub(
  hub: SystemdMachine,
  machines: readonly SystemdMachine[],
): Promise<void> {
  for (const [at, machine] of machines.entries()) {
    const cable = `host${at}`
    const ofHub = [cable, 'netns', hub.leader]
    const ofHost = ['eth0', 'netns', machine.leader]
    await runTool('ip', ['link', 'add', ...ofHub, 'type', 'veth', 'peer', 'name', ...ofHost])
    await hub.output(`ip address add 10.7.${at}.1/24 dev ${cable} && ip link set ${cable} up`)
    await machine.output(
      `ip address add 10.7.${at}.2/24 dev eth0 && ip link set eth0 up && echo '10.7.${at}.1 ${HUB_NAME}' >>/etc/hosts`,
    )
  }
}

/** Writes the inventory, and a key that the machines know. */
export async function inventoryOf(
  directory: string,
  machines: Readonly<Record<string, SystemdMachine>>,
  agents: readonly string[],
  variables: Readonly<Record<string, unknown>>,
): Promise<string> {
  const key = join(directory, 'key')
  await runTool('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
  const publicKey = await runTool('cat', [`${key}.pub`])
  const hosts: Record<string, object> = {}
  for (const [name, machine] of Object.entries(machines)) {
    await machine.output(
      `mkdir -p -m 700 /root/.ssh && mkdir -p /run/sshd && echo '${publicKey.trim()}' >/root/.ssh/authorized_keys`,
    )
    hosts[name] = { ansible_ssh_common_args: `-o ProxyCommand="${sshdIn(machine)}"` }
  }
  const inventory = {
    all: {
      hosts,
      children: { agents: { hosts: Object.fromEntries(agents.map((name) => [name, {}])) } },
      vars: {
        ansible_user: 'root',
        ansible_python_interpreter: '/usr/bin/python3',
        ansible_ssh_private_key_file: key,
        ansible_ssh_args: '-o ControlMaster=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR',
        ...variables,
      },
    },
  }
  const path = join(directory, 'inventory.json')
  await writeFile(path, JSON.stringify(inventory, undefined, 2))
  return path
}

/** A real sshd, at the end of a pipe in place of a network: nothing out here has a way to these machines. */
function sshdIn({ leader }: SystemdMachine): string {
  const namespaces = ENTER.map((name) => `--${name}`).join(' ')
  return `nsenter --target ${leader} ${namespaces} /usr/sbin/sshd -i -o UsePAM=no`
}
