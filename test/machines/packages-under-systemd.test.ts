// Both packages on a Debian with a systemd of its own, used as docs/operations.md says. One story: each test goes on where the one
// before it stopped.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ROOT } from '../../tools/source-files.ts'
import { buildPackages } from '../packages/support/built-packages.ts'
import {
  createToken,
  fillInAgent,
  HOST,
  initVault,
  setUpHub,
} from '../packages/support/installed-pair.ts'
import { waitUntil } from '../support/processes.ts'
import { findDenials, makeSandboxStrict } from './support/strict-sandbox.ts'
import {
  startSystemdMachine,
  type SystemdMachine,
  withMachines,
} from './support/systemd-machine.ts'

// The first time a Debian is made too.
const TIMEOUT = { timeout: 15 * 60_000 }

describe('both packages under systemd', { ...withMachines(), ...TIMEOUT }, () => {
  const started = new AsyncDisposableStack()
  let machine: SystemdMachine
  let directory: string

  const setUp = async (): Promise<void> => {
    directory = await mkdtemp(join(tmpdir(), 'packages-'))
    started.defer(() => rm(directory, { recursive: true, force: true }))
    await buildPackages(directory, '0.1.0')
    machine = started.use(await startSystemdMachine({ hostname: HOST, directories: [directory] }))
    await machine.output(`dpkg --install ${directory}/*.deb`)
    await makeSandboxStrict(machine)
    await setUpHub(machine)
    await initVault(machine)
    await machine.output('systemctl enable --now svc-server.service')
    await succeeds('curl --fail --silent http://127.0.0.1:8080/health')
  }
  before(setUp, TIMEOUT)
  after(() => started.disposeAsync())

  const createCargo = (nome: string): Promise<string> =>
    machine.output(`svc carga create --tipo csr_cert --nome ${nome} --agente ${HOST}`)
  const succeeds = (script: string, timeoutMs?: number): Promise<true> =>
    waitUntil(script, async () => (await machine.run(script)).status === 0 || undefined, timeoutMs)
  const waitForFile = (path: string, timeoutMs?: number): Promise<true> =>
    succeeds(`test -e ${path}`, timeoutMs)

  test('[AGV-18] the host enrols at its first start, with a token that systemd hands over', async () => {
    await fillInAgent(machine, 'https://hub.example.org:8446')
    const page = await readFile(join(ROOT, 'docs/operations.md'), 'utf8')
    const unit =
      /^```ini\n# (\/etc\/systemd\/system\/svc-agent-enroll\.service)\n([^]*?)^```$/m.exec(page)
    const fingerprint = await machine.output(`
openssl x509 -in /etc/svc-server/ca-root.crt -outform DER | sha256sum | cut -c 1-64`)
    await machine.output(`
(umask 077; echo ${await createToken(machine)} >/root/svc-enroll-token)
cat >${unit?.[1]} <<'END'
${unit?.[2]?.replace('5f1e…', fingerprint.trim())}
END
systemctl enable --now svc-agent-enroll.service svc-agent.service`)
    assert.equal(await machine.output('systemctl is-active svc-agent.service'), 'active\n')
    assert.match(await machine.output('svc agente list'), new RegExp(`^${HOST} `, 'm'))
  })

  test('targets are applied as soon as a certificate is there', async () => {
    await machine.output(targetNamed('site', ''))
    await createCargo('site')
    await waitForFile('/etc/ssl/site.pem')
  })

  test('the hub has its two secrets as credentials, and nowhere else', async () => {
    const pid = '$(systemctl show --property=MainPID --value svc-server)'
    const credentials = '/run/credentials/svc-server.service'
    assert.equal(
      await machine.output(`
cd ${credentials}
cmp master-passphrase /etc/svc-server/master-passphrase
cmp ca-provisioner-key /etc/svc-server/ca-provisioner-key
stat --format='%a %U' /etc/svc-server/master-passphrase /etc/svc-server/ca-provisioner-key
if setpriv --reuid=svc --regid=svc --clear-groups head -c 1 master-passphrase 2>/dev/null; then echo read; fi
tr '\\0' '\\n' <"/proc/${pid}/environ" | grep _FILE= | sort
cat "/proc/${pid}/environ" "/proc/${pid}/cmdline" | grep -c -F -f /etc/svc-server/master-passphrase || true`),
      `\
600 root
600 root
SVC_CA_PROVISIONER_KEY_FILE=${credentials}/ca-provisioner-key
SVC_MASTER_PASSPHRASE_FILE=${credentials}/master-passphrase
0
`,
    )
  })

  test('targets are applied too when a certificate comes during a long reload', async () => {
    await machine.output(`
${targetNamed('slow', `reload = ["/bin/sh", "-c", "touch /run/reloading; sleep 6"]`)}
${targetNamed('late', '')}`)
    await createCargo('slow')
    await waitForFile('/run/reloading')
    await createCargo('late')
    // The timer would come after five minutes.
    await waitForFile('/etc/ssl/late.pem', 60_000)
  })

  test('[ENV-33] targets are what root’s own commands see, with the settings of the units', async () => {
    assert.match(await machine.output('svc-agent targets check'), /^late\b[^]*^site\b[^]*^slow\b/m)
    assert.match(await machine.output('svc-agent targets apply'), /^site\b.*up to date/m)
    await machine.output('svc-agent poll; svc-agent rotate')
    await machine.output('systemctl stop svc-server')
    assert.match(await machine.output('svc unseal'), /entr/)
    await machine.output('systemctl start svc-server')
    await succeeds('curl --fail --silent http://127.0.0.1:8080/health')
  })

  test('targets wait while an update is on trial: nothing of it runs as root', async () => {
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

  test('with no targets there is nothing to do, and the units that watch go on', async () => {
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

  test('the timer applies them when nothing else does', async () => {
    await machine.output(`
mkdir -p /etc/systemd/system/svc-agent-targets.timer.d
printf '[Timer]\\nOnActiveSec=1s\\nAccuracySec=1s\\nRandomizedDelaySec=0\\n' >/etc/systemd/system/svc-agent-targets.timer.d/soon.conf
systemctl daemon-reload
systemctl stop svc-agent-targets-changed.path svc-agent-targets.path
rm /etc/ssl/again.pem
systemctl restart svc-agent-targets.timer`)
    await waitForFile('/etc/ssl/again.pem')
    await machine.output('systemctl start svc-agent-targets-changed.path svc-agent-targets.path')
  })

  test('systemd finds nothing wrong with the units, and little that they leave open', async () => {
    assert.equal(await machine.output('systemd-analyze verify /lib/systemd/system/svc-* 2>&1'), '')
    for (const unit of ['svc-server', 'svc-agent']) {
      assert.match(
        await machine.output(`systemd-analyze security --no-pager ${unit}.service | tail -n 1`),
        / [0-2]\.\d OK /,
      )
    }
  })

  test('in all of this nothing was denied, and a denial would be seen', async () => {
    assert.deepEqual(await findDenials(machine), [])
    assert.equal(
      await machine.output('systemctl show --property=NRestarts --value svc-server svc-agent'),
      '0\n\n0\n',
    )
    await machine.output(`
install -D -m 0755 /dev/stdin /var/lib/svc-agent/hooks/post-csr-cert <<'END'
#!/bin/sh
exec chown svc "$SVC_CERT_PATH"
END`)
    await createCargo('denied')
    await waitUntil('the denial', async () => (await findDenials(machine)).length > 0 || undefined)
  })

  test('[UPD-23] a purge waits for a pass that is under way, and leaves no unit and no link behind', async () => {
    const reload = `reload = ["/bin/sh", "-c", "touch /run/last; sleep 3; touch /run/lasted"]`
    await machine.output(targetNamed('last', reload))
    await createCargo('last')
    await waitForFile('/run/last')
    await machine.output(`
systemctl disable svc-agent-enroll.service
rm /etc/systemd/system/svc-agent-enroll.service
apt-get --yes --quiet purge svc-agent svc-server`)
    await machine.output(
      'test -e /run/lasted -a -e /etc/ssl/last.pem -a ! -e /var/lib/svc-agent-targets',
    )
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
