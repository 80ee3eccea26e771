// `svc-agent self-update` under the shipped units: svc-agent-update.path sees the marker, and the watcher keeps the new version or takes it
// back, also across a reboot. One story: each test goes on where the one before it stopped.

import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { buildAgentExecutable } from '../../tools/build/agent-executable.ts'
import { buildPackages } from '../packages/support/built-packages.ts'
import { enrol, HOST, initVault, serveCa, setUpHub } from '../packages/support/installed-pair.ts'
import { pretendAgent } from '../support/built-agent.ts'
import { MinisignKey } from '../support/minisign.ts'
import { waitUntil } from '../support/processes.ts'
import { findDenials, makeSandboxStrict } from './support/strict-sandbox.ts'
import {
  startSystemdMachine,
  type SystemdMachine,
  withMachines,
} from './support/systemd-machine.ts'

// The first time a Debian is made too.
const TIMEOUT = { timeout: 15 * 60_000 }
const VERSION = '0.5.0'
const NEXT_VERSION = '0.5.1'
const ANNOUNCED_VERSION = '0.5.2'
const RELEASES = 'http://127.0.0.1:8099'

describe('self-update under systemd', { ...withMachines('minisign'), ...TIMEOUT }, () => {
  const started = new AsyncDisposableStack()
  let machine: SystemdMachine

  const setUp = async (): Promise<void> => {
    const directory = await mkdtemp(join(tmpdir(), 'packages-'))
    started.defer(() => rm(directory, { recursive: true, force: true }))
    await chmod(directory, 0o755)
    const key = started.use(await MinisignKey.create())
    await buildPackages(directory, VERSION, key.publicKey)
    await offerReleases(directory, key)
    machine = started.use(await startSystemdMachine({ hostname: HOST, directories: [directory] }))
    await machine.output(`
dpkg --install ${directory}/*.deb
echo 'server { listen 127.0.0.1:8099; root ${directory}/releases; }' >/etc/nginx/sites-enabled/releases
systemctl reload nginx`)
    await makeSandboxStrict(machine)
    await setUpHub(machine)
    await initVault(machine)
    await machine.output('systemctl enable --now svc-server.service')
    await succeeds('curl --fail --silent http://127.0.0.1:8080/health')
    await enrol(machine)
    await machine.output('systemctl enable --now svc-agent.service')
    await roundOf(VERSION)
  }
  before(setUp, TIMEOUT)
  after(() => started.disposeAsync())

  const succeeds = (script: string, timeoutMs?: number): Promise<true> =>
    waitUntil(script, async () => (await machine.run(script)).status === 0 || undefined, timeoutMs)
  const roundOf = (version: string): Promise<true> =>
    succeeds(`grep -q '^version=${version} outcome=completed' /var/lib/svc-agent/state/last-round`)
  const updateTo = (name: string): Promise<string> =>
    machine.output(`svc-agent self-update --url ${RELEASES}/${name}`)
  /** The watch is over, and says how it went. */
  const watched = async (): Promise<string> => {
    await succeeds('test ! -e /usr/bin/svc-agent.update', 120_000)
    return machine.output('journalctl --boot --no-pager --unit=svc-agent-update')
  }
  const rebootDuringTrial = async (): Promise<void> => {
    await machine.output(`
systemctl show --property=ActiveState svc-agent-update | grep -qx ActiveState=activating
rm -f /var/lib/svc-agent/state/last-round`)
    await machine.reboot()
  }
  const runsAs = async (version: string): Promise<void> => {
    assert.equal((await machine.output('svc-agent --version')).trim(), version)
    await machine.output('rm -f /var/lib/svc-agent/state/last-round')
    await roundOf(version)
    assert.equal(
      await machine.output('systemctl list-units --plain --no-legend --failed "svc-*"'),
      '',
    )
  }

  test('[UPD-13] a version that crashes is taken back, long before the watch would end', async () => {
    await updateTo('crashing')
    assert.match(
      await watched(),
      /version 0\.5\.1 is taken back: (its process ended|it cannot be started)/,
    )
    await runsAs(VERSION)
    await machine.output('test -e /usr/bin/svc-agent.failed')
  })

  test('[UPD-12] [UPD-13] a version that hangs is taken back when the watch ends', async () => {
    await machine.output(`
mkdir -p /etc/systemd/system/svc-agent-update.service.d
printf '[Service]\\nEnvironment=SVC_AGENT_WATCH_SECONDS=8\\n' >/etc/systemd/system/svc-agent-update.service.d/watch.conf
systemctl daemon-reload`)
    await updateTo('hanging')
    assert.match(await watched(), /version 0\.5\.1 is taken back: no round of it within 8 s/)
    await runsAs(VERSION)
    await machine.output(
      'rm -r /etc/systemd/system/svc-agent-update.service.d; systemctl daemon-reload',
    )
  })

  test('[UPD-24] reboots in the middle begin the watch again, and a good version is kept', async () => {
    await machine.output(`
mkdir -p /etc/systemd/system/svc-agent.service.d
printf '[Service]\\nExecStartPre=/bin/sleep 3\\n' >/etc/systemd/system/svc-agent.service.d/slow.conf
systemctl daemon-reload
systemctl stop svc-agent-update.path`)
    await updateTo('good')
    // Without a hub it proves nothing, and the watch goes on.
    await machine.output(`
systemctl disable --now svc-server
systemctl start svc-agent-update.path`)
    await succeeds('systemctl show --property=SubState svc-agent | grep -qx SubState=start-pre')
    await rebootDuringTrial()
    await succeeds("grep -q '^version=0.5.1 outcome=network' /var/lib/svc-agent/state/last-round")
    await rebootDuringTrial()
    serveCa(machine)
    await machine.output('systemctl enable --now svc-server')
    assert.match(await watched(), /version 0\.5\.1 has proved itself/)
    await runsAs(NEXT_VERSION)
  })

  test('[UPD-25] [UPD-26] [UPD-28] a version that the hub announces is asked for by the agent, installed by root, and reported', async () => {
    await machine.output(`
echo 'SVC_AGENT_UPDATE_URL=${RELEASES}/announced/{version}' >>/etc/svc-agent/svc-agent.env
systemctl restart svc-agent
svc agente update ${ANNOUNCED_VERSION} --all --soak 0s`)
    await roundOf(ANNOUNCED_VERSION)
    assert.match(await watched(), /version 0\.5\.2 has proved itself/)
    await succeeds(
      `svc rollout list --json | tr -d ' \\n' | grep -q '"kind":"update".*"state":"done"'`,
    )
    await runsAs(ANNOUNCED_VERSION)
    await machine.output('test ! -e /var/lib/svc-agent/state/update-request')
    assert.match(
      await machine.output(
        'svc rollout show $(svc rollout list --json | sed -n \'s/^ *"id": "\\(.*\\)",$/\\1/p\' | head -1) --json',
      ),
      /"done": 1,/,
    )
    assert.match(
      await machine.output('journalctl --no-pager --unit=svc-agent-announced'),
      /updated \/usr\/bin\/svc-agent from 0\.5\.1 to 0\.5\.2/,
    )
  })

  test('[UPD-26] a request that is none is gone, and changes nothing', async () => {
    await machine.output(`
echo 'version=../../0.5.3 rollout=0123456789abcdef attempt=1' >/var/lib/svc-agent/state/update-request`)
    await succeeds('test ! -e /var/lib/svc-agent/state/update-request')
    await succeeds(
      'journalctl --no-pager --unit=svc-agent-announced | grep -q "is no request for a version"',
    )
    assert.equal((await machine.output('svc-agent --version')).trim(), ANNOUNCED_VERSION)
    await machine.output('systemctl reset-failed svc-agent-announced.service')
  })

  test('and all of it is nothing that the sandbox denies', async () => {
    assert.deepEqual(await findDenials(machine), [])
  })
})

async function offerReleases(directory: string, key: MinisignKey): Promise<void> {
  const good = join(directory, 'good')
  await buildAgentExecutable(good, { version: NEXT_VERSION, releasePublicKey: key.publicKey })
  const announced = join(directory, 'announced')
  const settings = { version: ANNOUNCED_VERSION, releasePublicKey: key.publicKey }
  await buildAgentExecutable(announced, settings)
  const releases: readonly (readonly [place: string, version: string, program: Buffer])[] = [
    ['good', NEXT_VERSION, await readFile(good)],
    ['crashing', NEXT_VERSION, pretendAgent(NEXT_VERSION, 'sleep 0.2; exit 3')],
    ['hanging', NEXT_VERSION, pretendAgent(NEXT_VERSION, 'exec sleep infinity')],
    [`announced/${ANNOUNCED_VERSION}`, ANNOUNCED_VERSION, await readFile(announced)],
  ]
  for (const [name, version, program] of releases) {
    const place = join(directory, 'releases', name)
    await mkdir(place, { recursive: true })
    await writeFile(join(place, 'svc-agent'), program)
    const trustedComment = `version:${version} file:svc-agent`
    await writeFile(join(place, 'svc-agent.minisig'), key.sign(program, { trustedComment }))
  }
}
