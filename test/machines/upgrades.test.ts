// Upgrades of both packages from released versions, whose own packages are made from their commits: hub and agent run, with settings that
// the administrator edited where that version said so, and nobody is there to answer a question.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { buildPackages } from '../packages/support/built-packages.ts'
import { HOST } from '../packages/support/installed-pair.ts'
import { waitUntil } from '../support/processes.ts'
import { ensureReleasedPackages } from '../versions/released-packages.ts'
import { HEALTH_URL, setUpReleasedPair } from './support/released-pair.ts'
import {
  startSystemdMachine,
  type SystemdMachine,
  withMachines,
} from './support/systemd-machine.ts'

// The first time a Debian and the old packages are made too.
const TIMEOUT = { timeout: 15 * 60_000 }
const VERSION = '0.5.0'
/** As unattended-upgrades starts it: no terminal, and nothing that says how to answer. */
const UPGRADE = 'setsid --wait env --unset=DEBIAN_FRONTEND apt-get install --yes --quiet'
/** What docs/operations.md says for the way back. */
const GO_BACK = `${UPGRADE} --allow-downgrades --option Dpkg::Options::=--force-confold`
const SETTINGS = '/etc/svc-agent/svc-agent.env /etc/svc-server/svc-server.env'
const TIMER = 'svc-agent-targets.timer'
const UPDATE = 'svc-agent-update.path'

const machines = withMachines()

describe('packages of this version', { ...machines, ...TIMEOUT }, async () => {
  const released = machines.skip === false ? await ensureReleasedPackages() : []
  let directory: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'packages-'))
    await buildPackages(directory, VERSION)
  }, TIMEOUT)
  after(() => rm(directory, { recursive: true, force: true }))

  for (const { version, directory: oldDirectory, skip } of released) {
    describe(`on a machine with those of ${version}`, { skip, ...TIMEOUT }, () => {
      let machine: SystemdMachine
      before(async () => {
        machine = await startSystemdMachine({
          hostname: HOST,
          directories: [directory, oldDirectory],
        })
        await setUpReleasedPair(machine, oldDirectory)
        await deliver('site', { passes: 'asked for' })
        await machine.output(`systemctl disable --now ${TIMER}; systemctl mask --now ${UPDATE}`)
      }, TIMEOUT)
      after(() => machine[Symbol.asyncDispose]())

      const printsSoon = (script: string, expected: string): Promise<true> =>
        waitUntil(`${expected} from ${script}`, async () => {
          const { stdout } = await machine.run(script)
          return stdout.trim() === expected || undefined
        })
      const servesAs = (expected: string): Promise<true> =>
        printsSoon(`curl --fail --silent ${HEALTH_URL}`, `{"status":"ok","version":"${expected}"}`)
      const serialOf = (nome: string): string =>
        `openssl x509 -noout -serial -in /etc/ssl/${nome}.pem`
      const identitySerial = async (): Promise<string> => {
        const printed = await machine.output('svc-agent identity --json')
        return (JSON.parse(printed) as { cert_serial: string }).cert_serial
      }
      /**
       * A new carga, until root's target has put it where services read it. A version before 0.5.0 forgets a certificate that comes
       * while a pass is under way, until its timer asks for another: it is asked for here, since the timer comes after minutes.
       */
      const deliver = async (
        nome: string,
        { passes }: { passes: 'watched for' | 'asked for' } = { passes: 'watched for' },
      ): Promise<void> => {
        await machine.output(`
cat >/etc/svc-agent/targets.d/${nome}.toml <<'END'
nome = "${nome}"
[[file]]
path = "/etc/ssl/${nome}.pem"
content = ["cert", "chain", "key"]
END
svc carga create --tipo csr_cert --nome ${nome} --agente ${HOST}`)
        const pass = passes === 'asked for' ? 'systemctl start svc-agent-targets.service &&' : ''
        await waitUntil(`${nome} in its place`, async () => {
          const { status } = await machine.run(`${pass} ${serialOf(nome)}`)
          return status === 0 || undefined
        })
      }

      test('[UPD-20] are installed without a question, keep the settings, and restart what runs', async () => {
        const settings = await machine.output(`cat ${SETTINGS}`)
        const identity = await identitySerial()
        await machine.output(`${UPGRADE} ${directory}/*_${VERSION}_*.deb </dev/null`)
        const states =
          "dpkg-query --show --showformat '${Status} ${Version}\\n' svc-agent svc-server"
        assert.equal(
          await machine.output(`${states}; dpkg --audit; find /etc -name '*.dpkg-*'`),
          `install ok installed ${VERSION}\n`.repeat(2),
        )
        assert.equal(await machine.output(`cat ${SETTINGS}`), settings)
        await servesAs(VERSION)
        await printsSoon(
          'svc-agent status --json | sed -n \'s/.*"running": *\\([a-z]*\\).*/\\1/p\'',
          'true',
        )
        assert.equal(await identitySerial(), identity)
        assert.match(
          await machine.output("tr '\\0' '\\n' </proc/$(pidof -s svc-agent)/environ"),
          /^SVC_AGENT_POLL_INTERVAL=500ms$/m,
        )
        await machine.output('svc evento list --verify')
      })

      test('[UPD-20] leave stopped what the administrator stopped, and watch for what is new', async () => {
        const watchers = `svc-agent-announced.path svc-agent-targets-changed.path svc-agent-targets.path ${UPDATE} ${TIMER}`
        const { stdout } = await machine.run(
          `systemctl is-active ${watchers}; systemctl is-enabled ${watchers}`,
        )
        assert.equal(
          stdout,
          'active\nactive\nactive\ninactive\ninactive\nenabled\nenabled\nenabled\nmasked\ndisabled\n',
        )
      })

      test('[VER-9] renew and deliver with the vault and the identity that they found', async () => {
        await deliver('upgraded')
        const identity = await identitySerial()
        await machine.output('svc-agent rotate')
        assert.notEqual(await identitySerial(), identity)
        const serial = await machine.output(serialOf('site'))
        await machine.output('svc carga update site')
        await waitUntil('the next version of site', async () =>
          (await machine.output(serialOf('site'))) === serial ? undefined : true,
        )
      })

      test('[VER-9] [UPD-21] give way to the older agent again, which goes on', async () => {
        const settings = await machine.output(`cat ${SETTINGS}`)
        await machine.output(`${GO_BACK} ${oldDirectory}/svc-agent_*.deb </dev/null`)
        assert.equal((await machine.output('svc-agent --version')).trim(), version)
        assert.equal(await machine.output(`cat ${SETTINGS}`), settings)
        await deliver('back', { passes: 'asked for' })
        assert.equal(
          await machine.output(`
systemctl list-units --plain --no-legend --state=failed,not-found 'svc-*'
find /etc/systemd -name 'svc-*' -xtype l`),
          '',
        )
      })

      test('[VLT-16] [UPD-21] and to the older hub only with a backup, which the vault waits for unharmed', async () => {
        await machine.output(`${GO_BACK} ${oldDirectory}/svc-server_*.deb </dev/null`)
        await waitUntil(
          'the refusal',
          async () => /newer version/.test(await machine.journal('svc-server')) || undefined,
        )
        await machine.output(`${UPGRADE} ${directory}/*_${VERSION}_*.deb </dev/null`)
        await servesAs(VERSION)
        await deliver('forward')
      })
    })
  }
})
