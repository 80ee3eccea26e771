// docs/services, typed in: every block that says on which machine, in the order of each page, on a hub and a host between which there is
// a cable. What a page shows of a command's output is what the command prints; a command whose output a page shows only looks, so it is
// asked again, as a person would.

import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ROOT } from '../../tools/source-files.ts'
import { buildPackages } from '../packages/support/built-packages.ts'
import { initVault, setUpHub } from '../packages/support/installed-pair.ts'
import { waitUntil } from '../support/processes.ts'
import { connectMachines } from './support/connect-machines.ts'
import {
  startSystemdMachine,
  type SystemdMachine,
  withMachines,
} from './support/systemd-machine.ts'
import { isAsShown, readTypedBlocks, type TypedBlock } from './support/typed-blocks.ts'

// The first time two Debians are made too.
const TIMEOUT = { timeout: 15 * 60_000 }
const LOOK_MS = 90_000
const HUB = 'hub.example.org'
const HOST = 'web-1.example.org'
const DIRECTORY = join(ROOT, 'docs/services')
/** What each page installs, and the unit that the page says a renewal does not restart. */
const PAGES = [
  { page: 'haproxy.md', services: ['haproxy'], unit: 'haproxy' },
  { page: 'postgresql.md', services: ['postgresql'], unit: 'postgresql@15-main' },
  { page: 'tomcat.md', services: ['tomcat10', 'tomcat10-admin'], unit: 'tomcat10' },
  { page: 'apache.md', services: ['apache2'], unit: 'apache2' },
] as const
const CERTIFICATE = 'serial='
const RENEWAL = 'svc load update '

describe('the pages of docs/services', { ...withMachines(), ...TIMEOUT }, () => {
  const started = new AsyncDisposableStack()
  let hub: SystemdMachine
  let host: SystemdMachine

  const setUp = async (): Promise<void> => {
    const directory = await mkdtemp(join(tmpdir(), 'service-pages-'))
    started.defer(() => rm(directory, { recursive: true, force: true }))
    await buildPackages(directory, '0.5.0')
    const directories = [directory]
    const services = PAGES.flatMap((page) => [...page.services])
    hub = started.use(await startSystemdMachine({ hostname: HUB, directories }))
    host = started.use(await startSystemdMachine({ hostname: HOST, directories, services }))
    await connectMachines(
      { machine: hub, address: '10.7.0.1', name: HUB },
      { machine: host, address: '10.7.0.2', name: HOST },
    )
    await hub.output(`dpkg --install ${directory}/svc-server_*.deb`)
    await setUpHub(hub)
    await initVault(hub)
    await hub.output(`
cp /etc/svc-server/ca-root.crt /root/root_ca.crt
systemctl enable --now svc-server`)
    const isReady = 'curl --fail --silent http://127.0.0.1:9464/readyz'
    await waitUntil(isReady, async () => (await hub.run(isReady)).status === 0 || undefined)
    const token = await hub.output(`svc token create --hostname ${HOST} --role web`)
    const [enrol] = /^.* svc-agent enroll --ca-fingerprint .*$/m.exec(token) ?? []
    await host.output(`
systemctl stop nginx
# Java is to start, not to become fast.
echo 'JAVA_OPTS="-Djava.awt.headless=true -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"' >>/etc/default/tomcat10
dpkg --install ${directory}/svc-agent_*.deb
${enrol}
systemctl enable --now svc-agent`)
  }
  before(setUp, TIMEOUT)
  after(() => started.disposeAsync())

  const look = async (
    { machine, text, shown = '' }: TypedBlock,
    earlier: string | undefined,
  ): Promise<string> => {
    const on = machine === 'hub' ? hub : host
    let last = ''
    try {
      return await waitUntil(
        text,
        async () => {
          const { stdout, stderr } = await on.run(`cd /root\n${text}`)
          last = stdout + stderr
          // Another certificate is what a page looks for when it looks a second time.
          const isNew = !shown.startsWith(CERTIFICATE) || stdout !== earlier
          return isNew && isAsShown(stdout, shown) ? stdout : undefined
        },
        LOOK_MS,
      )
    } catch (error) {
      throw new Error(`not as shown:\n${last}`, { cause: error })
    }
  }

  const runOf = (unit: string): Promise<string> =>
    host.output(`systemctl show --property=MainPID,ActiveEnterTimestamp ${unit}`)

  test('are all typed in here', async () => {
    assert.deepEqual(
      (await readdir(DIRECTORY)).toSorted(),
      PAGES.map(({ page }) => page).toSorted(),
    )
  })

  for (const { page, unit } of PAGES) {
    test(
      `${page}: the service serves, and goes on when a renewal comes, without a restart`,
      TIMEOUT,
      async () => {
        await host.output(`systemctl start ${unit}`)
        const looks = new Map<string, string>()
        let runBefore: string | undefined
        let renewals = 0
        for (const block of await readTypedBlocks(join(DIRECTORY, page))) {
          const { machine, text, shown } = block
          if (text.startsWith(RENEWAL)) runBefore = await runOf(unit)
          if (shown === undefined) {
            await (machine === 'hub' ? hub : host).output(`cd /root\n${text}`)
            continue
          }
          looks.set(text, await look(block, looks.get(text)))
          if (runBefore !== undefined && shown.startsWith(CERTIFICATE)) {
            assert.equal(await runOf(unit), runBefore)
            renewals += 1
          }
        }
        assert.equal(renewals, 1)
        // Of the agent's probes, too.
        const said = await host.output(`
journalctl --no-pager --output=cat --unit=${unit}
cat /var/log/postgresql/*.log`)
        assert.doesNotMatch(said, /SSL handshake failure|EOF detected/)
        const standing = 'svc delivery list | grep -w reverted'
        await waitUntil(standing, async () => (await hub.run(standing)).status === 1 || undefined)
        // The next service may want its port.
        await host.output(`
rm /etc/svc-agent/targets.d/*
systemctl stop ${unit}`)
      },
    )
  }

  test(
    '[ADO-4] [ADO-5] [ADO-8] [ADO-9] what units serve and a timer renews is adopted, and given back byte for byte',
    TIMEOUT,
    async () => {
      // As step's documentation has it, for Apache's files and for those of somebody else.
      await host.output(`
systemctl start apache2 postgresql@15-main
cat >/etc/systemd/system/cert-renewer@.service <<'END'
[Service]
Type=oneshot
Environment=STEPPATH=/etc/step-ca \\
            CERT_LOCATION=/etc/%i/tls/site.pem \\
            KEY_LOCATION=/etc/%i/tls/site.key
ExecStart=/usr/bin/step ca renew --force \${CERT_LOCATION} \${KEY_LOCATION}
END
cat >/etc/systemd/system/cert-renewer@.timer <<'END'
[Timer]
OnCalendar=2099-01-01
[Install]
WantedBy=timers.target
END
systemctl daemon-reload
systemctl enable --now cert-renewer@apache2.timer cert-renewer@other.timer
cp --archive /etc /root/etc-before`)
      const former = await servedSerials()
      const plan = await host.output('svc-agent adopt')
      assert.match(plan, /\+reload = \["systemctl", "reload", "apache2\.service"\]/)
      assert.match(plan, /\+reload = \["systemctl", "reload", "postgresql@15-main\.service"\]/)
      assert.match(plan, /renewed by: step \(cert-renewer@apache2\.timer\)/)
      assert.doesNotMatch(plan, /not adopted|cert-renewer@other/)
      for (const [, command] of plan.matchAll(/^ {2}(svc load create .*)$/gm)) {
        await hub.output(command ?? '')
      }
      const applied = await host.output('svc-agent adopt --apply --yes')
      assert.match(applied, /-apache: adopted\n/)
      assert.match(applied, /-postgresql: adopted\n/)
      assert.equal((await servedSerials()).length, 2)
      for (const serial of await servedSerials()) assert.ok(!former.includes(serial))
      assert.equal(await timers(), 'disabled\nenabled\ninactive\nactive\n')
      await host.output('svc-agent adopt --undo --yes')
      assert.deepEqual(await servedSerials(), former)
      assert.equal(await timers(), 'enabled\nenabled\nactive\nactive\n')
      const difference = 'diff -r --no-dereference /root/etc-before /etc'
      assert.equal(await host.output(difference), '')
    },
  )

  /** Of Apache and of PostgreSQL. */
  const servedSerials = async (): Promise<string[]> => {
    const said = await host.output(`
for address in '127.0.0.1:443' '127.0.0.1:5432 -starttls postgres'; do
  openssl s_client -connect $address </dev/null 2>/dev/null | openssl x509 -noout -serial
done`)
    return said.trim().split('\n')
  }

  const timers = (): Promise<string> =>
    host.output(`
units='cert-renewer@apache2.timer cert-renewer@other.timer'
systemctl is-enabled $units || true
systemctl is-active $units || true`)

  test('[LOG-1] the journals of the units are for people', async () => {
    for (const [machine, unit] of [
      [hub, 'svc-server'],
      [host, 'svc-agent'],
      [host, 'svc-agent-targets'],
    ] as const) {
      const journal = await machine.output(`journalctl --no-pager --output=cat --unit=${unit}`)
      assert.match(journal, /^[a-z]+\.[a-z_]+: [A-Z]/m)
      assert.doesNotMatch(journal, /^\{/m)
    }
  })
})
