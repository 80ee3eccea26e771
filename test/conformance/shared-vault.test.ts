// A vault whose journal is in a real PostgreSQL: made, moved there and back, made again after its machine is lost. docs/protocol.md DBS.

import assert from 'node:assert/strict'
import { copyFile, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createSeededRandom, seedFrom } from '../simulation/seeded-random.ts'
import { postgresProgram, skipUnlessRunnable } from '../services/support/required-programs.ts'
import { enrollHost, type EnrolledHost } from '../support/enrolled-host.ts'
import { createHubProcess, type HubProcess } from '../support/hub-process.ts'
import { type Postgresql, startPostgresql } from '../support/postgresql.ts'
import { type Ended, startProgram, waitUntil } from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { scrape } from '../support/scrape.ts'
import { startTestCa } from '../support/test-hub.ts'
import { send } from '../support/wire-client.ts'

interface Entries {
  readonly eventos: readonly {
    readonly tipo_evento: string
    readonly hash_atual: string
    readonly payload: object
  }[]
}

const NONE = ''
const SEED = seedFrom(process.env['SHARED_SEED'] ?? '')
const KILLS = Number(process.env['SHARED_KILLS'] ?? 2)
const random = createSeededRandom(SEED)

describe(
  'a vault in PostgreSQL',
  { skip: skipUnlessRunnable([postgresProgram('postgres')]) },
  () => {
    let server: Postgresql
    let ca: RunningCa
    let hub: HubProcess
    let host: EnrolledHost
    let url: string
    before(async () => {
      server = await startPostgresql()
      ca = await startTestCa()
      url = server.url
      const environment = { SVC_DATABASE_URL: url, SVC_METRICS_BIND: '127.0.0.1:0' }
      hub = await createHubProcess({ caEnvironment: ca.environment, environment })
      const moved = await runSvcHere(['vault', 'migrate', '--to', 'postgresql'], hub.environment)
      assert.equal(moved.status, 0, moved.stderr)
      assert.equal(
        moved.stdout,
        `the vault at ${hub.vaultRoot} has its journal in the PostgreSQL\n`,
      )
      await hub.start()
      host = await enrollHost(hub, 'web-1.example.org')
    })
    after(async () => {
      await hub[Symbol.asyncDispose]()
      await ca[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    })

    const svcWith = (extra: Readonly<Record<string, string>>, ...args: string[]): Promise<Ended> =>
      runSvcHere(args, { ...hub.environment, ...extra })
    const succeed = async (...args: string[]): Promise<string> => {
      const { status, stdout, stderr } = await svcWith({}, ...args)
      assert.equal(status, 0, stderr)
      return stdout
    }
    const entries = async (): Promise<Entries['eventos']> =>
      (JSON.parse(await succeed('evento', 'list', '--verify', '--json')) as Entries).eventos
    const isServed = async (): Promise<number> =>
      (await send({ ...host.mtls, port: hub.ports.mtls }, { method: 'GET', path: '/v1/manifest' }))
        .status

    test('[DBS-10] [DBS-12] [CLI-144] the hub acknowledges what the database has', async () => {
      const [row] = await server.query('SELECT numero::integer FROM diario_fim')
      const { numero } = row as { numero: number }
      assert.ok(numero > 0)
      await hub.createToken({ hostname: 'web-2.example.org' })
      const [later] = await server.query('SELECT numero::integer FROM diario_fim')
      assert.ok((later as { numero: number }).numero > numero)
      assert.equal((await entries())[0]?.tipo_evento, 'vault_moved')
    })

    test('[MET-32] its metrics say where the journal and its image are', async () => {
      const listening = hub.logEntries().find(({ msg }) => msg === 'metrics listening')
      const metrics = await waitUntil('a look at the journal', async () => {
        const samples = await scrape(`http://127.0.0.1:${listening?.['port'] as number}`)
        const found = samples.filter(({ name }) => name.startsWith('svc_journal_'))
        const values = new Map(found.map(({ name, value }) => [name, value]))
        return values.has('svc_journal_image_size_bytes') ? values : undefined
      })
      const [end] = await server.query('SELECT numero::integer FROM diario_fim')
      const { numero } = end as { numero: number }
      assert.equal(metrics.get('svc_journal_last_record'), numero)
      assert.equal(metrics.get('svc_journal_behind_records'), 0)
      assert.equal(metrics.get('svc_journal_followed_records_total'), 0)
      assert.ok((metrics.get('svc_journal_turn_wait_seconds_count') ?? 0) >= numero)
      const [image] = await server.query(
        'SELECT bytes::integer, numero::integer, extract(epoch FROM inteira_em)::float8 AS at FROM imagem',
      )
      const made = image as { bytes: number; numero: number; at: number }
      assert.equal(metrics.get('svc_journal_image_size_bytes'), made.bytes)
      const aged = (metrics.get('svc_journal_image_timestamp_seconds') ?? 0) - made.at
      assert.ok(Math.abs(aged) < 5, `${aged}`)
      assert.ok((metrics.get('svc_journal_bytes_since_image') ?? 0) > 0)
    })

    test('[DBS-11] a vault and settings that do not say the same are refused', async () => {
      await hub.stop()
      const alone = await svcWith({ SVC_DATABASE_URL: NONE }, 'token', 'list')
      assert.match(
        alone.stderr,
        /^svc: error: the vault at \S+ has its journal in a PostgreSQL, and SVC_DATABASE_URL is not set\n/,
      )
      const rekeyed = await svcWith({}, 'vault', 'rekey', '--to', join(hub.directory, 'rekeyed'))
      assert.match(rekeyed.stderr, /^svc: error: the vault has its journal in a PostgreSQL\n/)
      await server.query('CREATE DATABASE another')
      const another = {
        SVC_DATABASE_URL: url.replace(/postgres$/, 'another'),
        SVC_VAULT_ROOT: join(hub.directory, 'another'),
      }
      const made = await svcWith(another, 'init')
      assert.equal(made.status, 0, made.stderr)
      const elsewhere = await svcWith(
        { SVC_DATABASE_URL: another.SVC_DATABASE_URL },
        'token',
        'list',
      )
      assert.match(
        elsewhere.stderr,
        /the database belongs to vault \S+, config.json to vault \S+\n/,
      )
      const restored = await svcWith(another, 'vault', 'migrate', '--to', 'embedded')
      assert.equal(restored.status, 0, restored.stderr)
      const embedded = await svcWith(another, 'token', 'list')
      assert.match(
        embedded.stderr,
        /^svc: error: this vault is embedded, SVC_DATABASE_URL is set\nsvc: hint: svc vault migrate --to postgresql moves it/,
      )
      await hub.start()
    })

    test('[DBS-14] [CLI-145] a hub whose machine is lost comes back with everything that it acknowledged', async () => {
      const kept = join(hub.directory, 'config.json')
      await copyFile(join(hub.vaultRoot, 'config.json'), kept)
      const names = Array.from({ length: 30 }, (_, at) => `late-${at}.example.org`)
      await Promise.all(names.map((hostname) => hub.createToken({ hostname })))
      const young = await enrollHost(hub, 'web-3.example.org')
      await hub.stop('SIGKILL')
      await rename(hub.vaultRoot, `${hub.vaultRoot}.old`)
      const joined = JSON.parse(await succeed('join', '--from', kept, '--json'))
      assert.equal(joined.vault, hub.vaultRoot)
      assert.deepEqual((await readdir(hub.vaultRoot)).sort(), [
        'audit.head',
        'config.json',
        'db.enc',
        'vault.lock',
      ])
      await hub.start()
      assert.equal(await isServed(), 200)
      assert.equal(
        (
          await send(
            { ...young.mtls, port: hub.ports.mtls },
            { method: 'GET', path: '/v1/manifest' },
          )
        ).status,
        200,
      )
      const listed = await succeed('token', 'list', '--json')
      for (const name of names) assert.ok(listed.includes(`"${name}"`), name)
      assert.ok((await entries()).length >= joined.entries)
      const again = await svcWith({}, 'join', '--from', kept)
      assert.match(again.stderr, /^svc: error: there is a vault at /)
    })

    test('[CHN-9] [DBS-10] a database that was put back to an earlier state gets again what the journal has', async () => {
      const files = ['db.enc', 'db.enc-wal', 'db.enc-shm'].map((name) => join(hub.vaultRoot, name))
      await hub.stop()
      const early = await readFile(join(hub.vaultRoot, 'db.enc'))
      await hub.start()
      await hub.createToken({ hostname: 'after-the-copy.example.org' })
      const known = await entries()
      await hub.stop('SIGKILL')
      for (const file of files) await rm(file, { force: true })
      await writeFile(join(hub.vaultRoot, 'db.enc'), early, { mode: 0o600 })
      assert.equal((await svcWith({}, 'unseal', '--accept-loss')).status, 0)
      await hub.start()
      const again = await entries()
      assert.deepEqual(
        again.slice(0, known.length).map(({ hash_atual }) => hash_atual),
        known.map(({ hash_atual }) => hash_atual),
      )
      assert.equal(
        again.find(({ tipo_evento }) => tipo_evento === 'audit_loss_accepted'),
        undefined,
        'nothing was lost',
      )
    })

    test('[CHN-9] entries that the journal has lost, too, are missed', async () => {
      await hub.stop()
      await rm(join(hub.vaultRoot, 'audit.head'))
      await assert.rejects(hub.start(), /first missing entry: 1/)
      const accepted = await svcWith({}, 'unseal', '--accept-loss')
      assert.equal(accepted.status, 0, accepted.stderr)
      await hub.start()
    })

    test('[DBS-10] while the database is away the hub answers 503, and what was read stays readable', async () => {
      server.kill('SIGKILL')
      const refused = await svcWith(
        {},
        'token',
        'create',
        '--hostname',
        'x.example.org',
        '--role',
        'web',
      )
      assert.equal(refused.status, 1)
      assert.match(
        refused.stderr,
        /^svc: error: no database takes writes: 127\.0\.0\.1:\d+: connect ECONNREFUSED/,
      )
      await server.startAgain()
      await waitUntil('the hub to write again', async () => {
        const { status } = await svcWith(
          {},
          'token',
          'create',
          '--hostname',
          'x.example.org',
          '--role',
          'web',
        )
        return status === 0 || undefined
      })
    })

    test('[DBS-13] goes back into its directory, and into the database again', async () => {
      const known = await entries()
      await hub.stop()
      const moved = await svcWith({}, 'vault', 'migrate', '--to', 'embedded')
      assert.equal(moved.status, 0, moved.stderr)
      assert.equal(moved.stdout, `the vault at ${hub.vaultRoot} is embedded\n`)
      const [left] = await server.query('SELECT count(*)::integer AS rows FROM diario')
      assert.deepEqual(left, { rows: 0 })
      const old = await svcWith({ SVC_VAULT_ROOT: `${hub.vaultRoot}.old` }, 'token', 'list')
      assert.match(old.stderr, /: the vault was moved out of the database\n/)
      const alone = { SVC_DATABASE_URL: NONE }
      const listed = await svcWith(alone, 'evento', 'list', '--verify', '--json')
      const { eventos } = JSON.parse(listed.stdout) as Entries
      assert.deepEqual(
        eventos.slice(0, known.length).map(({ hash_atual }) => hash_atual),
        known.map(({ hash_atual }) => hash_atual),
      )
      assert.deepEqual(eventos.at(-1)?.payload, { actor: 'admin', to: 'embedded' })
      await hub.start(alone)
      assert.equal(await isServed(), 200)
      await hub.stop()
      await succeed('vault', 'migrate', '--to', 'postgresql')
      await hub.start()
      assert.equal(await isServed(), 200)
      await hub.stop()
      const twice = await succeed('vault', 'migrate', '--to', 'postgresql')
      assert.equal(
        twice,
        `the vault at ${hub.vaultRoot} has its journal in the PostgreSQL already\n`,
      )
    })

    test('[DBS-11] gets a new key by way of its directory', async () => {
      await succeed('vault', 'migrate', '--to', 'embedded')
      const made = join(hub.directory, 'rekeyed')
      await succeed('vault', 'rekey', '--to', made)
      await rename(hub.vaultRoot, `${hub.vaultRoot}.before`)
      await rename(made, hub.vaultRoot)
      await succeed('vault', 'migrate', '--to', 'postgresql')
      await hub.start()
      assert.equal(await isServed(), 200)
      await hub.stop()
    })

    test('[DBS-12] a journal that lost records begins again with the vault that has them', async () => {
      const known = await entries()
      await server.query('DELETE FROM diario')
      await server.query('UPDATE diario_fim SET numero = 0')
      const lost = await svcWith({}, 'token', 'list')
      assert.match(
        lost.stderr,
        /the journal lost records: this vault has followed \d+, the journal has 0\n/,
      )
      await succeed('vault', 'migrate', '--to', 'postgresql', '--replace')
      const again = await entries()
      assert.deepEqual(
        again.slice(0, known.length).map(({ hash_atual }) => hash_atual),
        known.map(({ hash_atual }) => hash_atual),
      )
      assert.deepEqual(again.at(-1)?.payload, { actor: 'admin', to: 'postgresql' })
    })

    test(`[DBS-12] [DBS-13] a kill at any moment leaves it as it was, or moved (SHARED_SEED=${SEED})`, async () => {
      const directions = ['embedded', 'postgresql'] as const
      for (let kill = 0; kill < KILLS; kill += 1) {
        for (const to of directions) {
          const args = ['vault', 'migrate', '--to', to]
          const startMs = performance.now()
          const running = startProgram('svc', args, hub.environment)
          const whole = await running.ended
          assert.equal(whole.status, 0, whole.stderr)
          const tookMs = performance.now() - startMs
          const back = to === 'embedded' ? 'postgresql' : 'embedded'
          const killed = startProgram('svc', ['vault', 'migrate', '--to', back], hub.environment)
          const timer = setTimeout(() => killed.kill('SIGKILL'), tookMs * random())
          await killed.ended
          clearTimeout(timer)
          // Whatever it is now, to go on leads to where it was to go, and from there back.
          await succeed('vault', 'migrate', '--to', back)
          await succeed('vault', 'migrate', '--to', to)
        }
      }
      const alone = await svcWith({}, 'vault', 'migrate', '--to', 'postgresql')
      assert.equal(alone.status, 0, alone.stderr)
      const all = await entries()
      assert.ok(all.length > 0)
      await hub.start()
      assert.equal(await isServed(), 200)
    })
  },
)
