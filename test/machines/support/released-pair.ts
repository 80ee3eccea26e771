// A hub and a host on one machine, from the packages of a released version, as that version's docs/operations.md told an operator to.

import { enrol, fillIn, setUpHub } from '../../packages/support/installed-pair.ts'
import { waitUntil } from '../../support/processes.ts'
import type { SystemdMachine } from './systemd-machine.ts'

/** Not what any package has: who serves there knows what the administrator wrote. */
export const HEALTH_URL = 'http://127.0.0.1:8090/health'

/** Hub and agent run. */
export async function setUpReleasedPair(machine: SystemdMachine, directory: string): Promise<void> {
  await machine.output(`dpkg --install ${directory}/*.deb`)
  await setUpHub(machine)
  await fillIn(machine, '/etc/svc-server/svc-server.env', [['SVC_HEALTH_BIND', '127.0.0.1:8090']])
  await machine.output(`
SVC_MASTER_PASSPHRASE_FILE=/etc/svc-server/master-passphrase svc init
systemctl enable --now svc-server.service`)
  await waitUntil('the hub to serve', async () => {
    const { status } = await machine.run(`curl --fail --silent ${HEALTH_URL}`)
    return status === 0 || undefined
  })
  await enrol(machine, 'set -a; . /etc/svc-agent/svc-agent.env; set +a')
  await machine.output('systemctl enable --now svc-agent.service')
}
