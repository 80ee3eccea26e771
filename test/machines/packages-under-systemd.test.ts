// Both packages on a Debian with a systemd of its own, used as docs/operations.md says. One story: each test goes on where the one
// before it stopped.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { buildPackages } from '../packages/support/built-packages.ts'
import { enrol, HOST, initVault, setUpHub } from '../packages/support/installed-pair.ts'
import { waitUntil } from '../support/processes.ts'
import {
  startSystemdMachine,
  type SystemdMachine,
  withMachines,
} from './support/systemd-machine.ts'

// The first time a Debian is made too.
const TIMEOUT = { timeout: 15 * 60_000 }

describe('targets under systemd', { ...withMachines(), ...TIMEOUT }, () => {
  const started = new AsyncDisposableStack()
  let machine: SystemdMachine
  let directory: string

  const setUp = async (): Promise<void> => {
    directory = await mkdtemp(join(tmpdir(), 'packages-'))
    started.defer(() => rm(directory, { recursive: true, force: true }))
    await buildPackages(directory, '0.1.0')
    machine = started.use(await startSystemdMachine({ hostname: HOST, directories: [directory] }))
    await machine.output(`dpkg --install ${directory}/*.deb`)
    await setUpHub(machine)
    await initVault(machine)
    await machine.output('systemctl enable --now svc-server.service')
    await succeeds('curl --fail --silent http://127.0.0.1:8080/health')
    await enrol(machine)
    await machine.output('systemctl enable --now svc-agent.service')
  }
  before(setUp, TIMEOUT)
  after(() => started.disposeAsync())

  const createCargo = (nome: string): Promise<string> =>
    machine.output(`svc carga create --tipo csr_cert --nome ${nome} --agente ${HOST}`)
  const succeeds = (script: string, timeoutMs?: number): Promise<true> =>
    waitUntil(script, async () => (await machine.run(script)).status === 0 || undefined, timeoutMs)
  const waitForFile = (path: string, timeoutMs?: number): Promise<true> =>
    succeeds(`test -e ${path}`, timeoutMs)

  test('are applied as soon as a certificate is there', async () => {
    await machine.output(targetNamed('site', ''))
    await createCargo('site')
    await waitForFile('/etc/ssl/site.pem')
  })

  test('are applied too when a certificate comes during a long reload', async () => {
    await machine.output(`
${targetNamed('slow', `reload = ["/bin/sh", "-c", "touch /run/reloading; sleep 6"]`)}
${targetNamed('late', '')}`)
    await createCargo('slow')
    await waitForFile('/run/reloading')
    await createCargo('late')
    // The timer would come after five minutes.
    await waitForFile('/etc/ssl/late.pem', 60_000)
  })

  test('[ENV-33] are what root’s own commands see, with the settings of the units', async () => {
    assert.match(await machine.output('svc-agent targets check'), /^late\b[^]*^site\b[^]*^slow\b/m)
    assert.match(await machine.output('svc-agent targets apply'), /^site\b.*up to date/m)
    await machine.output('svc-agent poll; svc-agent rotate')
    await machine.output('systemctl stop svc-server')
    assert.match(await machine.output('svc unseal'), /entr/)
    await machine.output('systemctl start svc-server')
    await succeeds('curl --fail --silent http://127.0.0.1:8080/health')
  })

  test('wait while an update is on trial: nothing of it runs as root', async () => {
    await machine.output(`
mkdir -p /etc/systemd/system/svc-agent-update.service.d
printf '[Service]\\nEnvironment=SVC_AGENT_WATCH_SECONDS=10\\n' >/etc/systemd/system/svc-agent-update.service.d/watch.conf
systemctl daemon-reload
cp /usr/bin/svc-agent /usr/bin/svc-agent.old
install -m 0755 /dev/stdin /usr/bin/svc-agent.new <<'END'
#!/bin/sh
echo "$(id -u) $*" >>/tmp/trial
exec sleep infinity
END
install -m 1777 -d /run/trial
sed -i s,/tmp/trial,/run/trial/calls, /usr/bin/svc-agent.new
echo "new=9.9.9" >/usr/bin/svc-agent.update.tmp
# As self-update does it, under its lock.
exec 9>>/usr/bin/svc-agent.lock
flock 9
mv /usr/bin/svc-agent.update.tmp /usr/bin/svc-agent.update
touch /var/lib/svc-agent/out/.changed
sync /usr/bin
mv /usr/bin/svc-agent.new /usr/bin/svc-agent`)
    await waitForFile('/run/trial/calls')
    await machine.output('touch /var/lib/svc-agent/out/.changed')
    await succeeds('test ! -e /usr/bin/svc-agent.update', 120_000)
    const calls = await machine.output('cat /run/trial/calls')
    const uid = (await machine.output('id -u svc')).trim()
    assert.equal(calls, `${uid} run\n`)
    // What waited is done by the old version.
    await createCargo('after')
    await machine.output(targetNamed('after', ''))
    await waitForFile('/etc/ssl/after.pem', 60_000)
  })

  test('with none there is nothing to do, and the units that watch go on', async () => {
    await machine.output(`
rm /etc/svc-agent/targets.d/*
touch /var/lib/svc-agent/out/.changed`)
    await succeeds('test ! -e /run/svc-agent-targets.pending')
    assert.equal(
      await machine.output(
        'systemctl is-active svc-agent-targets-changed.path svc-agent-targets.path',
      ),
      'active\nactive\n',
    )
    await machine.output(targetNamed('site', '').replace('/site.pem', '/again.pem'))
    await waitForFile('/etc/ssl/again.pem', 60_000)
  })

  test('a purge leaves no link of a unit behind', async () => {
    await machine.output('apt-get --yes --quiet purge svc-agent svc-server')
    assert.equal(await machine.output('find /etc/systemd -name "svc-*" -type l'), '')
    assert.equal(await machine.output('systemctl list-units --all --plain --no-legend "svc-*"'), '')
  })
})

function targetNamed(nome: string, more: string): string {
  return `
cat >/etc/svc-agent/targets.d/${nome}.toml <<'END'
nome = "${nome}"
${more}
[[file]]
path = "/etc/ssl/${nome}.pem"
content = ["cert", "chain", "key"]
END`
}
