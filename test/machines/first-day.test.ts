// docs/first-day.md, typed in: every block that says on which machine, in the order of the page, on two machines with a cable between
// them and a real step-ca. What a person would paste from one machine to the other is pasted.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ROOT } from '../../tools/source-files.ts'
import { buildPackages } from '../packages/support/built-packages.ts'
import { waitUntil } from '../support/processes.ts'
import { type ConfiguredStepCa, configureStepCa } from '../support/step-ca.ts'
import { connectMachines } from './support/connect-machines.ts'
import { readTypedBlocks, type TypedBlock } from './support/typed-blocks.ts'
import {
  startSystemdMachine,
  type SystemdMachine,
  withMachines,
} from './support/systemd-machine.ts'

// The first time a Debian is made too.
const TIMEOUT = { timeout: 15 * 60_000 }
const HUB = 'hub.example.org'
const HOST = 'web-1.example.org'
// Of this machine: the Debian that boots has none.
const PROMETHEUS = ['/usr/bin/prometheus', '/usr/bin/promtool']
const TAKES_A_MOMENT = /^(curl |cat \/|promtool )/

describe(
  'the first day, as docs/first-day.md has it',
  { ...withMachines('promtool'), ...TIMEOUT },
  () => {
    const started = new AsyncDisposableStack()
    const said: string[] = []
    let hub: SystemdMachine
    let host: SystemdMachine
    let blocks: TypedBlock[]
    let ca: ConfiguredStepCa

    const setUp = async (): Promise<void> => {
      const directory = await mkdtemp(join(tmpdir(), 'first-day-'))
      started.defer(() => rm(directory, { recursive: true, force: true }))
      await buildPackages(directory, '0.5.0')
      ca = await configureStepCa(join(directory, 'ca'), { hasDatabase: false })
      const directories = [directory, ca.program, ...PROMETHEUS]
      hub = started.use(await startSystemdMachine({ hostname: HUB, directories }))
      host = started.use(await startSystemdMachine({ hostname: HOST, directories }))
      await connectMachines(
        { machine: hub, address: '10.7.0.1', name: HUB },
        { machine: host, address: '10.7.0.2', name: HOST },
      )
      for (const machine of [hub, host]) await machine.output(`cp ${directory}/*.deb /root`)
      await startCa()
      await installPrometheus()
      blocks = await readTypedBlocks(join(ROOT, 'docs/first-day.md'))
    }
    before(setUp, TIMEOUT)
    after(() => started.disposeAsync())

    /** What the page says that the reader has. */
    const startCa = async (): Promise<void> => {
      hub.start(`exec ${[ca.program, ...ca.args].join(' ')}`)
      await hub.output(`
cat >/root/root_ca.crt <<'END'
${await readFile(ca.rootPath, 'utf8')}
END
umask 077
cat >/root/provisioner.json <<'END'
${ca.provisionerKey}
END`)
      await waitUntil('the CA', async () => {
        const { status } = await hub.run(
          `curl --fail --silent --cacert /root/root_ca.crt ${ca.url}/health`,
        )
        return status === 0 || undefined
      })
    }

    const installPrometheus = async (): Promise<void> => {
      await hub.output(`
mkdir -p /etc/prometheus
cat >/etc/systemd/system/prometheus.service <<'END'
[Service]
ExecStart=/usr/bin/prometheus --config.file=/etc/prometheus/prometheus.yml --storage.tsdb.path=/var/lib/prometheus
END
systemctl daemon-reload`)
    }

    /** What the reader has under other names, or copies from one terminal to the other. */
    const readAs = async (text: string): Promise<string> =>
      text
        .replaceAll('https://ca.example.org:9000', ca.url)
        .replace(
          /^.*svc-agent enroll .*…$/m,
          /^.* svc-agent enroll --ca-fingerprint .*$/m.exec(said.join(''))?.[0] ?? '',
        )
        .replaceAll('SHA256:…', text.includes('SHA256:…') ? await fingerprintOf(host) : '')

    /** Returns what each block printed. What takes a moment is asked again, as a person would. */
    const type = async (heading: string): Promise<string[]> => {
      const section = blocks.filter((block) => block.heading === heading)
      assert.ok(section.length > 0, `no block below ${heading}`)
      for (const { machine, text } of section) {
        const script = `cd /root\n${await readAs(text)}`
        const on = machine === 'hub' ? hub : host
        said.push(
          TAKES_A_MOMENT.test(text)
            ? await waitUntil(script, async () => succeeded(await on.run(script)), 60_000)
            : await on.output(script),
        )
      }
      return said.slice(-section.length)
    }

    test('a hub', async () => {
      const outputs = await type('1. A hub')
      assert.match(outputs.at(-1) ?? '', /"ready"/)
    })

    test('[DOC-1] [DOC-4] svc doctor finds nothing wrong with it', async () => {
      const { status, stdout, stderr } = await hub.run('svc doctor')
      assert.equal(status, 0, `${stdout}${stderr}`)
      assert.doesNotMatch(stdout, /^(skipped|unknown|warning|error)/m)
    })

    test('a host', async () => {
      await type('2. A host')
      await hub.output(`svc agent list | grep -w ${HOST}`)
      assert.equal((await host.output('systemctl is-active svc-agent')).trim(), 'active')
    })

    test('a certificate in nginx', async () => {
      const outputs = await type('3. A certificate in nginx')
      assert.match(outputs.at(-1) ?? '', /^200 0\n[^]*\bsite\b/)
    })

    test('a secret', async () => {
      const outputs = await type('4. A secret')
      assert.equal(outputs.at(-1), await hub.output('cat /root/db-password'))
    })

    test('nothing was denied, and nobody complained', async () => {
      for (const machine of [hub, host]) {
        const journal = await machine.output(
          'journalctl --no-pager --priority=warning --output=cat',
        )
        // The bus has no right to more open files here.
        const complaints = journal
          .split('\n')
          .filter((line) => !line.startsWith('[system] org.freedesktop.DBus.'))
        assert.doesNotMatch(complaints.join('\n'), /denied|not permitted|svc-/i)
      }
    })

    test('an alert', async () => {
      const outputs = await type('5. An alert')
      assert.match(
        outputs.at(2) ?? '',
        /CartorioTargetReverted[^]*\breverted\b[^]*mistake.conf:1\n/,
      )
      assert.match(outputs.at(-1) ?? '', /^site\b.*: applied/m)
      const standing = 'svc delivery list | grep -w reverted'
      await waitUntil(standing, async () => (await hub.run(standing)).status === 1 || undefined)
    })
  },
)

function succeeded({ status, stdout }: { status: number | null; stdout: string }) {
  return status === 0 ? stdout : undefined
}

async function fingerprintOf(machine: SystemdMachine): Promise<string> {
  const { recipient_fingerprint: fingerprint } = JSON.parse(
    await machine.output('svc-agent identity --json'),
  ) as { recipient_fingerprint: string }
  return fingerprint
}
