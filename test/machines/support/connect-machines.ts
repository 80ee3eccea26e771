// A cable between two machines.

import { runTool } from '../../support/processes.ts'
import type { SystemdMachine } from './systemd-machine.ts'

export interface ConnectedMachine {
  readonly machine: SystemdMachine
  /** IPv4, in one /24 with the other's. */
  readonly address: string
  /** How both find it. */
  readonly name: string
}

/** Goes when one of them does. */
export async function connectMachines(
  ...ends: [ConnectedMachine, ConnectedMachine]
): Promise<void> {
  const [one, other] = ends
  const endIn = ({ machine }: ConnectedMachine): string[] => ['eth0', 'netns', machine.leader]
  await runTool('ip', [
    'link',
    'add',
    ...endIn(one),
    'type',
    'veth',
    'peer',
    'name',
    ...endIn(other),
  ])
  for (const { machine, address } of ends) {
    await machine.output(`
ip address add ${address}/24 dev eth0
ip link set eth0 up
${ends.map((end) => `echo '${end.address} ${end.name}' >>/etc/hosts`).join('\n')}`)
  }
}
