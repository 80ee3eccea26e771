// The life of both packages on a machine: installed, used as their units say, upgraded, removed, purged. One story: each
// test goes on where the one before it stopped.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { waitUntil } from '../support/processes.ts'
import { buildPackages } from './support/built-packages.ts'
import { enrol, HOST, initVault, setUpHub, startHub } from './support/installed-pair.ts'
import {
  findMachineObstacle,
  type PrivateMachine,
  startPrivateMachine,
} from './support/private-machine.ts'
import { type RunningUnit, runUnit } from './support/run-unit.ts'
import { findRefusedCalls } from './support/system-call-filter.ts'

const OBSTACLE = process.env['CI'] === 'true' ? undefined : findMachineObstacle()
const VERSION = '0.1.0'
const NEXT_VERSION = '0.1.1'
const SANDBOXED = ['svc-server.service', 'svc-agent.service']

const INSTALLED = `\
755 root:root /usr/bin/svc
755 root:root /usr/bin/svc-agent
755 root:root /usr/bin/svc-server
755 root:root /usr/lib/svc-agent/svc-agent-apply-targets
755 root:root /usr/lib/svc-agent/svc-agent-apply-update
755 root:root /usr/lib/svc-agent/svc-agent-watch-update
644 root:root /etc/svc-server/svc-server.env
644 root:root /etc/svc-agent/svc-agent.env
755 root:root /etc/svc-agent/targets.d
755 svc:svc /var/lib/svc-agent
700 root:root /var/lib/svc-agent-targets
700 svc-server:svc-server /var/lib/svc
`

describe('the Debian packages', { skip: OBSTACLE }, () => {
  const started = new AsyncDisposableStack()
  let directory: string
  let machine: PrivateMachine
  let hub: RunningUnit
  let agent: RunningUnit
  let identity: string

  const install = (version: string): Promise<string> =>
    machine.output(`dpkg --install ${directory}/*_${version}_*.deb`)
  const versions = (): Promise<string> =>
    machine.output('cd /; for p in svc svc-agent svc-server; do env -i /usr/bin/$p --version; done')

  /** A stand-in for systemctl notes what it is asked to restart. */
  async function withSystemd(work: () => Promise<unknown>): Promise<string[]> {
    await machine.output(`
rm -f /usr/sbin/policy-rc.d
mkdir -p /run/systemd/system
install -m 0755 /dev/stdin /usr/local/bin/systemctl <<'END'
#!/bin/sh
[ "$1" != try-restart ] || echo "$2" >>/run/restarts
END`)
    await work()
    const restarts = await machine.output(
      'rm -r /run/systemd /usr/local/bin/systemctl; cat /run/restarts',
    )
    return restarts.trimEnd().split('\n')
  }

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'packages-'))
    started.defer(() => rm(directory, { recursive: true, force: true }))
    await buildPackages(directory, VERSION)
    await buildPackages(directory, NEXT_VERSION)
    machine = started.use(await startPrivateMachine([directory]))
  })
  after(() => started.disposeAsync())

  test('the programs are installed, with their users, and say their version', async () => {
    await install(VERSION)
    const paths = INSTALLED.trimEnd()
      .split('\n')
      .map((line) => line.split(' ')[2])
    assert.equal(await machine.output(`stat -c '%a %U:%G %n' ${paths.join(' ')}`), INSTALLED)
    assert.equal(await versions(), '0.1.0\n0.1.0\nsvc-server 0.1.0\n')
    assert.match(
      await machine.output('getent passwd svc svc-server'),
      /^svc:.*:\/var\/lib\/svc-agent:\/usr\/sbin\/nologin\nsvc-server:.*:\/var\/lib\/svc:\/usr\/sbin\/nologin\n$/,
    )
  })

  test('what watches for certificates and updates is enabled, hub and agent are not', async () => {
    const enabled = 'cd /etc/systemd/system; find . -name "svc-*" -type l | sort'
    assert.deepEqual((await machine.output(enabled)).trimEnd().split('\n'), [
      './multi-user.target.wants/svc-agent-announced.path',
      './multi-user.target.wants/svc-agent-targets-changed.path',
      './multi-user.target.wants/svc-agent-targets.path',
      './multi-user.target.wants/svc-agent-update.path',
      './timers.target.wants/svc-agent-targets.timer',
    ])
  })

  test('the shells find the completions', async () => {
    assert.match(
      await machine.output(`bash -c '
        . /usr/share/bash-completion/completions/svc
        . /usr/share/bash-completion/completions/svc-agent
        complete -p svc svc-agent'`),
      /^complete .* svc\ncomplete .* svc-agent\n$/,
    )
    await machine.output('zsh -n /usr/share/zsh/vendor-completions/_svc*')
    await machine.output('fish -n /usr/share/fish/vendor_completions.d/svc*.fish')
  })

  test('systemd finds nothing wrong with the units', async () => {
    const { status, stdout, stderr } = await machine.run(
      'systemd-analyze verify /usr/lib/systemd/system/svc-*',
    )
    assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' })
  })

  for (const unit of SANDBOXED) {
    test(`${unit} is exposed to less than 3.0`, async () => {
      // The threshold is in tenths; a higher score than it fails.
      await machine.output(
        `systemd-analyze security --offline=yes --threshold=29 /usr/lib/systemd/system/${unit}`,
      )
    })
  }

  test('the hub starts from its unit and its environment file', async () => {
    await setUpHub(machine)
    assert.match(await initVault(machine), /\/var\/lib\/svc/)
    hub = await startHub(machine)
    assert.equal(
      await machine.output('curl -fsS http://127.0.0.1:8080/health'),
      '{"status":"ok","version":"0.1.0"}',
    )
  })

  test('the agent enrols, and its unit installs what it is sent and runs the hook', async () => {
    await enrol(machine)
    // The hook sees that it is in the sandbox: no /proc/uptime, no other user's process.
    await machine.output(`
install -d -m 0755 /var/lib/svc-agent/hooks
install -m 0755 /dev/stdin /var/lib/svc-agent/hooks/post-csr-cert <<'END'
#!/bin/sh
test ! -e /proc/uptime && test ! -e /proc/1 && ! touch /etc/svc-agent/touched &&
  echo "$SVC_EVENT $SVC_NOME" >> /var/lib/svc-agent/hook-trace
END
svc carga create --tipo csr_cert --nome site --agente ${HOST}`)
    agent = await runUnit(machine, 'svc-agent.service')
    await waitUntil('the hook to have run', async () => {
      const { stdout } = await machine.run('cat /var/lib/svc-agent/hook-trace')
      return stdout === 'installed site\n' ? true : undefined
    })
    assert.equal(
      await machine.output(`
cd /var/lib/svc-agent; stat -L -c '%a %U:%G %n' identity identity/agent.key out out/site.crt out/site.key`),
      `\
700 svc:svc identity
600 svc:svc identity/agent.key
755 svc:svc out
644 svc:svc out/site.crt
600 svc:svc out/site.key
`,
    )
    identity = await machine.output('svc-agent identity')
    assert.match(identity, new RegExp(`hostname: +${HOST}`))
  })

  test('root puts it where a target says, as the shipped unit does', async () => {
    await machine.output(`
install -d /etc/site-tls
cat >/etc/svc-agent/targets.d/site.toml <<'END'
nome = "site"
[[file]]
path = "/etc/site-tls/site.pem"
content = ["cert", "chain", "key"]
group = "www-data"
mode = "0640"
END
unit=/usr/lib/systemd/system/svc-agent-targets.service
eval "$(sed -n 's/^Environment=/export /p' $unit)"
$(sed -n 's/^ExecStart=//p' $unit)`)
    assert.equal(
      await machine.output("stat -c '%a %U:%G' /etc/site-tls/site.pem"),
      '640 root:www-data\n',
    )
    await machine.output('test -e /var/lib/svc-agent/out/.changed')
  })

  test('both stop on SIGTERM, and the filters of their units refuse nothing that they did', async () => {
    for (const service of [agent, hub]) {
      const { ended, systemCalls, addressFamilies } = await service.stop()
      assert.ok(ended.status === 0 || ended.signal === 'SIGTERM', service.log())
      assert.ok(systemCalls.includes('epoll_pwait'), 'strace has seen the program itself')
      assert.deepEqual(await findRefusedCalls(service.unit, systemCalls), [])
      const families = service.unit.last('RestrictAddressFamilies')?.split(' ') ?? []
      assert.deepEqual(
        addressFamilies.filter((family) => !families.includes(family)),
        [],
      )
    }
  })

  test('an upgrade keeps settings, vault and identity, and restarts what runs', async () => {
    const settings = 'cat /etc/svc-server/svc-server.env /etc/svc-agent/svc-agent.env'
    const settingsBefore = await machine.output(settings)
    const disabled = '/etc/systemd/system/timers.target.wants/svc-agent-targets.timer'
    await machine.output(`rm ${disabled}`)
    const restarts = await withSystemd(() => install(NEXT_VERSION))
    assert.deepEqual(restarts, ['svc-agent.service', 'svc-server.service'])
    await machine.output(`test ! -e ${disabled}`)
    assert.equal(await versions(), '0.1.1\n0.1.1\nsvc-server 0.1.1\n')
    assert.equal(await machine.output(settings), settingsBefore)
    assert.equal(await machine.output('svc-agent identity'), identity)
    hub = await startHub(machine)
    await machine.output(`
svc-agent run --once`)
    const { agentes } = JSON.parse(await machine.output('svc agent list --json')) as {
      agentes: { hostname: string }[]
    }
    assert.deepEqual(
      agentes.map(({ hostname }) => hostname),
      [HOST],
    )
    await hub.stop()
  })

  test('a removal keeps settings and state', async () => {
    await machine.output('dpkg --remove svc-agent svc-server')
    const { stdout } = await machine.run('ls -d /usr/bin/svc /usr/bin/svc-* /usr/lib/svc-*')
    assert.equal(stdout, '')
    await machine.output(`
test -e /etc/svc-agent/svc-agent.env
test -e /etc/svc-server/svc-server.env
test -e /var/lib/svc-agent/identity/agent.crt
test -e /var/lib/svc/config.json`)
  })

  test('a purge takes the agent’s state, and leaves the vault', async () => {
    const said = await machine.output('dpkg --purge svc-agent svc-server')
    assert.match(said, /the vault in \/var\/lib\/svc was kept/)
    const { stdout } = await machine.run(
      'ls -d /var/lib/svc* /etc/svc-agent; find /etc/systemd /var/lib/systemd -name "svc-*"',
    )
    assert.equal(stdout, '/var/lib/svc\n')
    await machine.output('test -e /var/lib/svc/config.json && test -e /var/lib/svc/db.enc')
  })
})
