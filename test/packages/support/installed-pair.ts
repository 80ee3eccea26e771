// A CA, a hub and an agent on a private machine, set up as docs/operations.md tells an operator to.

import { ROOT } from '../../../tools/source-files.ts'
import { waitUntil } from '../../support/processes.ts'
import type { ShellMachine } from '../../support/shell-machine.ts'
import type { PrivateMachine } from './private-machine.ts'
import { type RunningUnit, runUnit } from './run-unit.ts'

export const HOST = 'web-1.example.org'

const CA_SETTINGS = ['SVC_CA_URL', 'SVC_CA_PROVISIONER_KID'] as const

/** Starts svc-ca there and leaves its root and its provisioner's key where the hub's unit expects them. */
export async function setUpHub(machine: ShellMachine): Promise<void> {
  const init = `${ROOT}/bin/svc-ca init --dir /srv/ca --listen 127.0.0.1:9000 --json`
  const ca = JSON.parse(await machine.output(init)) as Record<string, string>
  serveCa(machine)
  await machine.output(`
echo '127.0.0.1 hub.example.org' >>/etc/hosts
cd /etc/svc-server
umask 077
openssl rand -base64 32 > master-passphrase
echo '${ca['SVC_CA_PROVISIONER_KEY']}' > ca-provisioner-key
install -m 0644 '${ca['SVC_CA_ROOT_CA_PATH']}' ca-root.crt`)
  const settings = CA_SETTINGS.map((name): [string, string] => [name, ca[name] ?? ''])
  await fillIn(machine, '/etc/svc-server/svc-server.env', [
    ...settings,
    ['SVC_SERVER_CN', 'hub.example.org'],
  ])
}

/** Again after a reboot. */
export function serveCa(machine: ShellMachine): void {
  machine.start(`exec ${ROOT}/bin/svc-ca serve --dir /srv/ca`)
}

export async function initVault(machine: ShellMachine): Promise<string> {
  return machine.output('svc init')
}

export async function startHub(machine: PrivateMachine): Promise<RunningUnit> {
  const hub = await runUnit(machine, 'svc-server.service')
  await logs(hub, '"mtls listening"')
  return hub
}

/** A token made beside the hub, and the enrolment of this machine, after what a version may need first. */
export async function enrol(machine: ShellMachine, first = ''): Promise<void> {
  await fillInAgent(machine, 'http://127.0.0.1:8444')
  await machine.output(`
(umask 077; echo ${await createToken(machine)} >/root/token)
${first}
SVC_ENROLL_TOKEN_FILE=/root/token svc-agent enroll
rm /root/token`)
}

export async function fillInAgent(machine: ShellMachine, enrolUrl: string): Promise<void> {
  await fillIn(machine, '/etc/svc-agent/svc-agent.env', [
    ['SVC_SERVER_URL', enrolUrl],
    ['SVC_SERVER_MTLS_URL', 'https://hub.example.org:8443'],
    ['SVC_AGENT_ROLE', 'web'],
    ['SVC_AGENT_HOSTNAME', HOST],
    ['SVC_AGENT_POLL_INTERVAL', '500ms'],
  ])
}

export async function createToken(machine: ShellMachine): Promise<string> {
  const created = await machine.output(`svc token create --hostname ${HOST} --role web --json`)
  return (JSON.parse(created) as { token: string }).token
}

/** Waits until a service has logged this. */
export async function logs(service: RunningUnit, text: string): Promise<void> {
  await waitUntil(`"${text}" in the log:\n${service.log()}`, () =>
    service.log().includes(text) ? true : undefined,
  )
}

/** As an editor would: a variable that is there, commented out or not, gets the value; another is added. */
export async function fillIn(
  machine: ShellMachine,
  path: string,
  settings: readonly (readonly [string, string])[],
): Promise<void> {
  for (const [name, value] of settings) {
    await machine.output(`
sed -i 's|^#\\{0,1\\}${name}=.*|${name}=${value}|' ${path}
grep -q '^${name}=' ${path} || echo '${name}=${value}' >>${path}`)
  }
}
