// `svc-agent adopt` with five real services: found, taken over, given back byte for byte.

import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createDelivery } from '../support/deliveries.ts'
import { runTool, runProgram, waitUntil } from '../support/processes.ts'
import {
  type FormerService,
  startFormerApache,
  startFormerCaddy,
  startFormerHaproxy,
  startFormerNginx,
  startFormerPostgresql,
} from './support/adopted-services.ts'
import { skipUnlessRunnable } from './support/required-programs.ts'
import { AGENT_USER, serialOf, ServiceHost } from './support/service-host.ts'
import { useServicesHub } from './support/use-services-hub.ts'

const PROGRAMS = ['nginx', 'apache2', 'haproxy', 'pg_ctlcluster', 'caddy', 'certbot', 'openssl']
const DIRECTORIES_WITHOUT_TIMES = ['(', '-type', 'd', '-printf', '%p d %U:%G %m\\n', ')', '-o']
const FILES_WITH_ALL = ['-printf', '%p %y %U:%G %m %s %T@ %l\\n']
const KILLER = fileURLToPath(new URL('./support/kill-before-rename.ts', import.meta.url))
/** What belongs to others than the agent. */
const OTHERS = ['etc', 'home', 'former', 'targets.d'] as const

interface Plan {
  readonly proposals: readonly {
    readonly id: string
    readonly state: string
    readonly problems: readonly string[]
    readonly renewers: readonly { readonly kind: string; readonly name: string }[]
  }[]
}

describe('svc-agent adopt', { skip: skipUnlessRunnable(PROGRAMS) }, () => {
  const services = useServicesHub()

  test('[ADO-1] [ADO-3] [ADO-4] [ADO-5] [ADO-8] [ADO-9] five services are found, taken over and given back byte for byte', async () => {
    await using host = await ServiceHost.create(services(), 'adopt-five', AGENT_USER)
    const five = [
      await startFormerNginx(host),
      await startFormerApache(host),
      await startFormerHaproxy(host),
      await startFormerPostgresql(host),
      await startFormerCaddy(host),
    ]
    const ids = five.map(({ id }) => id)
    // The first time that it is asked, certbot makes directories for hooks.
    assert.deepEqual(await certbotNames(host), [five[0]?.name, 'other.test'])
    const before = await Snapshot.take(host)
    const formerSerials = await Promise.all(five.map(servedSerial))

    const planned = await adopt(host, '--json', ...ids)
    const { proposals } = JSON.parse(planned.stdout) as Plan
    assert.deepEqual(
      proposals.map(({ id, state, problems, renewers }) => ({
        id,
        state,
        problems,
        renewer: renewers.map(({ kind, name }) => `${kind} (${name})`),
      })),
      five
        .map(({ id, renewer }) => ({
          id,
          state: 'open',
          problems: [],
          renewer: renewer === undefined ? [] : [renewer],
        }))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    )
    await before.assertSame('a plan changes nothing')

    // As the operator would: the very commands that the plan shows.
    const { stdout } = await adopt(host, ...ids)
    const commands = [...stdout.matchAll(/^ {2}svc (load create .*)$/gm)].map(([, words]) => words)
    assert.equal(commands.length, five.length, stdout)
    host.run()
    for (const command of commands) {
      const made = await host.hub.svc(...(command ?? '').split(' '))
      assert.equal(made.status, 0, made.stderr)
    }
    const applied = await adopt(host, '--apply', '--yes', '--json', ...ids)
    assert.equal(applied.status, 0, applied.stderr + applied.stdout)
    for (const [index, service] of five.entries()) {
      const serial = await serialInOut(host, service.name)
      assert.notEqual(serial, formerSerials[index])
      assert.equal(await servedSerial(service), serial, service.id)
    }
    assert.deepEqual(await certbotNames(host), ['other.test'], 'certbot renews what is not ours')
    const again = JSON.parse((await adopt(host, '--json', ...ids)).stdout) as Plan
    assert.deepEqual(
      again.proposals.map(({ state }) => state),
      five.map(() => 'adopted'),
    )

    const undone = await adopt(host, '--undo', '--yes', ...ids)
    assert.equal(undone.status, 0, undone.stderr + undone.stdout)
    await before.assertSame('undo puts everything back')
    for (const [index, service] of five.entries()) {
      assert.equal(await servedSerial(service), formerSerials[index], service.id)
    }
    assert.deepEqual(await certbotNames(host), [five[0]?.name, 'other.test'])
  })

  test('[ADO-6] [ADO-10] [ADO-11] a certificate that lacks a name is waited for; one that nginx does not take is taken back', async () => {
    await using host = await ServiceHost.create(services(), 'adopt-fails', AGENT_USER)
    const nginx = await startFormerNginx(host)
    const former = await servedSerial(nginx)
    host.run()
    const { cargaId } = await createDelivery(host.hub, host.hostname, nginx.name, [nginx.name])
    await waitUntil('the pair', () => serialInOut(host, nginx.name).catch(() => undefined))
    // The next reload of nginx fails; what it serves already stays.
    const configPath = host.path('etc/nginx/nginx.conf')
    await writeFile(configPath, `${await readFile(configPath, 'utf8')}broken;\n`)
    const before = await Snapshot.take(host)

    const early = await adopt(host, '--apply', '--yes', '--wait', '1s', nginx.id)
    assert.equal(early.status, 1)
    assert.match(
      early.stdout,
      /^nginx-\w+\.test-nginx: waiting\n {2}the certificate that is delivered for nginx-\w+\.test lacks www\.nginx-\w+\.test\nnothing was changed for what waits: run the command again\n$/,
    )
    await before.assertSame('a wait changes nothing')

    const live = host.path(`etc/letsencrypt/live/${nginx.name}`)
    await chmod(live, 0o777)
    const refused = await adopt(host, '--apply', '--yes', nginx.id)
    await chmod(live, 0o755)
    assert.equal(refused.status, 1, refused.stderr + refused.stdout)
    assert.match(
      refused.stdout,
      /^nginx-\w+\.test-nginx: refused\n {2}the directory .*\.test is writable by group or others\n$/,
    )

    const sans = [nginx.name, `www.${nginx.name}`]
    await host.hub.admin('POST', '/v1/admin/cargas/remove', { carga: cargaId })
    await createDelivery(host.hub, host.hostname, nginx.name, sans)
    const failed = await adopt(host, '--apply', '--yes', nginx.id)
    assert.equal(failed.status, 1)
    assert.match(
      failed.stdout,
      /^nginx-\w+\.test-nginx: undone\n {2}reverted: reload: exit status 1\n/,
    )
    assert.match(failed.stdout, /unknown directive "broken"/)
    await before.assertSame('what failed is taken back')
    assert.equal(await servedSerial(nginx), former)
    assert.deepEqual(await readdir(host.path('data-targets/adopt')), [], 'no copy of a key is left')
  })

  test('[ADO-7] kill -9 of taking over and of undoing, which the same command then finishes', async () => {
    await using host = await ServiceHost.create(services(), 'adopt-killed', AGENT_USER)
    const nginx = await startFormerNginx(host)
    const former = await servedSerial(nginx)
    host.run()
    const sans = [nginx.name, `www.${nginx.name}`]
    await createDelivery(host.hub, host.hostname, nginx.name, sans)
    await certbotNames(host)
    const before = await Snapshot.take(host)
    const points: readonly (readonly [apply: string, undo: string])[] = [
      ['/privkey.pem', '.test.conf'],
      ['.svc-adopted', '/fullchain.pem'],
    ]
    for (const [applyPoint, undoPoint] of points) {
      const killed = await adopt(host, ...killBefore(applyPoint), '--apply', '--yes', nginx.id)
      assert.equal(killed.signal, 'SIGKILL', applyPoint + killed.stderr)
      const applied = await adopt(host, '--apply', '--yes', nginx.id)
      assert.equal(applied.status, 0, applied.stderr + applied.stdout)
      assert.equal(await servedSerial(nginx), await serialInOut(host, nginx.name))
      assert.deepEqual(await certbotNames(host), ['other.test'])

      const halfUndone = await adopt(host, ...killBefore(undoPoint), '--undo', '--yes', nginx.id)
      assert.equal(halfUndone.signal, 'SIGKILL', undoPoint + halfUndone.stderr)
      await adopt(host, '--undo', '--yes', nginx.id)
      await before.assertSame(`killed before ${applyPoint} and ${undoPoint}`)
      // A worker that nginx has told to go may still take one connection.
      const isBack = async () => (await servedSerial(nginx)) === former
      await waitUntil('the former certificate', async () => (await isBack()) || undefined)
    }
  })
})

/** What begins with `TEST_…=` or `NODE_…=` is for its environment. */
function adopt(host: ServiceHost, ...args: string[]) {
  const isVariable = (word: string): boolean => /^(?:TEST|NODE)_\w+=/.test(word)
  const variables = args.filter(isVariable).map((word) => {
    const at = word.indexOf('=')
    return [word.slice(0, at), word.slice(at + 1)] as const
  })
  return runProgram('svc-agent', ['adopt', ...args.filter((word) => !isVariable(word))], {
    ...host.environment,
    HOME: host.path('home'),
    ...Object.fromEntries(variables),
  })
}

/** Ends it just before a file gets a name with this end. */
function killBefore(nameEnd: string): string[] {
  return [`NODE_OPTIONS=--import=${KILLER}`, `TEST_KILL_BEFORE_RENAME=${nameEnd}`]
}

function servedSerial({ name, port, starttls }: FormerService): Promise<string> {
  const asked = starttls === undefined ? [] : ['-starttls', starttls]
  const address = ['-connect', `127.0.0.1:${port}`, '-servername', name, ...asked]
  return waitUntil(`an answer of ${name}`, async () => {
    const transcript = await runTool('openssl', ['s_client', ...address], '').catch(() => '')
    const [pem] = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(transcript) ?? []
    return pem === undefined ? undefined : serialOf(pem)
  })
}

async function serialInOut(host: ServiceHost, name: string): Promise<string> {
  return serialOf(await readFile(host.path(`data/out/${name}.crt`)))
}

async function certbotNames(host: ServiceHost): Promise<string[]> {
  const elsewhere = ['--work-dir', host.path('run/certbot'), '--logs-dir', host.path('log/certbot')]
  const directory = ['--config-dir', host.path('etc/letsencrypt')]
  const said = await runTool('certbot', ['certificates', ...directory, ...elsewhere])
  return [...said.matchAll(/Certificate Name: (\S+)/g)].map(([, name = '']) => name).sort()
}

/** Names, kinds, owners, modes, sizes, times to the nanosecond and links of all files, and a copy of what is in them. */
class Snapshot {
  readonly #host: ServiceHost
  readonly #listing: string

  private constructor(host: ServiceHost, before: string) {
    this.#host = host
    this.#listing = before
  }

  static async take(host: ServiceHost): Promise<Snapshot> {
    await mkdir(host.path('copy'), { mode: 0o700 })
    await mkdir(host.path('home'), { recursive: true })
    for (const name of OTHERS) {
      await runTool('cp', ['--archive', host.path(name), host.path(`copy/${name}`)])
    }
    return new Snapshot(host, await listing(host))
  }

  async assertSame(why: string): Promise<void> {
    const [before, now] = [this.#listing, await listing(this.#host)]
    assert.deepEqual(
      { gone: linesBeside(before, now), new: linesBeside(now, before) },
      { gone: [], new: [] },
      why,
    )
    for (const name of OTHERS) {
      const pair = [this.#host.path(`copy/${name}`), this.#host.path(name)]
      assert.equal(await runTool('diff', ['-r', '--no-dereference', ...pair]), '', why)
    }
  }
}

async function listing(host: ServiceHost): Promise<string> {
  const lines = await Promise.all(
    OTHERS.map((name) =>
      runTool('find', [host.path(name), ...DIRECTORIES_WITHOUT_TIMES, ...FILES_WITH_ALL]),
    ),
  )
  return lines.join('').split('\n').sort().join('\n')
}

function linesBeside(text: string, other: string): string[] {
  const known = new Set(other.split('\n'))
  return text.split('\n').filter((line) => !known.has(line))
}
