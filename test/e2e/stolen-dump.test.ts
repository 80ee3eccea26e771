// Whoever steals what PostgreSQL has of a vault, a dump or the whole disk of its server, finds nothing of what the vault holds.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { unsealVault } from '../../src/hub/vault/vault.ts'
import { readSecret } from '../../src/hub/read-secret.ts'
import { ROOT } from '../../tools/source-files.ts'
import { postgresProgram, skipUnlessRunnable } from '../services/support/required-programs.ts'
import { createDelivery } from '../support/deliveries.ts'
import { createHubProcess, type HubProcess } from '../support/hub-process.ts'
import { type Postgresql, startPostgresql } from '../support/postgresql.ts'
import { runTool } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { createSealedCargo, enrollSealed, sealForHosts } from '../support/sealed-files.ts'
import { startTestCa } from '../support/test-hub.ts'
import { assertOk, post } from '../support/wire-client.ts'

const FRAGMENT_BYTES = 20

describe(
  'a PostgreSQL with the journal of a vault',
  { skip: skipUnlessRunnable([postgresProgram('postgres'), postgresProgram('pg_dump')]) },
  () => {
    let server: Postgresql
    let ca: RunningCa
    let hub: HubProcess
    const canaries = new Map<string, Buffer>()
    before(async () => {
      server = await startPostgresql()
      ca = await startTestCa()
      const environment = { SVC_DATABASE_URL: server.url }
      hub = await createHubProcess({ caEnvironment: ca.environment, environment })
      await migrate('postgresql')
    })
    after(async () => {
      await hub[Symbol.asyncDispose]()
      await ca[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    })

    const migrate = async (to: string): Promise<void> => {
      const { status, stderr } = await hub.svc('vault', 'migrate', '--to', to)
      assert.equal(status, 0, stderr)
    }
    /** What a thief would like to find, by what it is. */
    const canary = (what: string, text: string | Buffer): void => {
      canaries.set(what, Buffer.from(text))
    }
    /** A name of its own for it. */
    const nameOf = (what: string): string => {
      const name = `x${randomBytes(10).toString('hex')}`
      canary(what, name)
      return name
    }
    const dump = async (): Promise<Buffer> => {
      const port = String(server.servers.hosts[0]?.port)
      const args = ['--host=127.0.0.1', `--port=${port}`, '--username=svc', 'postgres']
      return Buffer.from(await runTool(postgresProgram('pg_dump'), args), 'latin1')
    }
    const readFiles = async (): Promise<Buffer[]> => {
      const data = join(server.directory, 'data')
      const files = await readdir(data, { recursive: true, withFileTypes: true })
      return Promise.all(
        files
          .filter((file) => file.isFile())
          .map((file) => readFile(join(file.parentPath, file.name))),
      )
    }

    test('[JRN-13] has, after a life with everything in it, nothing that a thief would like', async () => {
      await hub.start()
      await live('image')
      await hub.stop()
      // All of that is in the next image.
      await migrate('embedded')
      await migrate('postgresql')
      await hub.start()
      await live('records')
      await hub.stop()
      const vault = await unsealVault(
        hub.vaultRoot,
        readSecret(hub.environment, 'SVC_MASTER_PASSPHRASE'),
      )
      canary('data key', vault.dataKey.reveal())
      canary('passphrase', readSecret(hub.environment, 'SVC_MASTER_PASSPHRASE').reveal())
      canary('wrapped data key', await findWrappedKey())
      const [counts] = await server.query(
        'SELECT (SELECT count(*)::integer FROM diario) AS records, (SELECT count(*)::integer FROM imagem_parte) AS pieces',
      )
      const { records, pieces } = counts as { records: number; pieces: number }
      assert.ok(records > 10 && pieces > 0 && canaries.size > 30)
      assert.deepEqual(findCanaries(canaries, [await dump(), ...(await readFiles())]), [])
    })

    test('the search finds what was put there in the clear, in base64, as bytes, and was removed again', async () => {
      const [text, base64, bytes] = [...canaries.values()]
      assert.ok(text && base64 && bytes)
      // Three times, for a page of the write-ahead log may end in the middle of one.
      await server.query(
        `CREATE TABLE planted AS SELECT '${text.toString()}' AS a, 'xy${Buffer.concat([Buffer.from('x'), base64]).toString('base64')}' AS b,
           decode('${bytes.toString('hex')}', 'hex') AS c FROM generate_series(1, 3)`,
      )
      const planted = new Map([...canaries].slice(0, 3))
      assert.deepEqual(findCanaries(planted, [await dump()]), [...planted.keys()])
      await server.query('DROP TABLE planted')
      await server.query('CHECKPOINT')
      assert.deepEqual(findCanaries(planted, [await dump()]), [])
      assert.deepEqual(findCanaries(planted, await readFiles()), [...planted.keys()])
    })

    test('[JRN-13] what it does show is what the docs say', async () => {
      const columns = (await server.query(
        `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
         WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`,
      )) as readonly { readonly name: string }[]
      const protocol = await readFile(join(ROOT, 'docs/protocol.md'), 'utf8')
      const [, table = ''] = protocol.split('| table | column | what it tells |\n')
      const rows = table.slice(0, table.indexOf('\n\n')).matchAll(/^\| `(\w+)` \| `(\w+)` \| \S/gm)
      assert.deepEqual(
        Array.from(rows, ([, name, column]) => `${name}.${column}`).toSorted(),
        columns.map(({ name }) => name).toSorted(),
      )
    })

    /** Everything that a hub keeps, with names of its own. */
    async function live(place: string): Promise<void> {
      const own = (what: string): string => nameOf(`${what} (${place})`)
      const keep = (what: string, text: string | Buffer): void => canary(`${what} (${place})`, text)
      const role = own('role')
      const permitted = `${own('permitted name')}.example`
      await hub.admin('POST', '/v1/admin/politicas', {
        role,
        nome: own('politica'),
        sans_permitidos: [`*.${permitted}`],
      })
      const hostname = `${own('hostname')}.example`
      const host = await enrollSealed(hub, hostname, { role })
      keep('agent id', host.agentId)
      keep('recipient', host.recipient.slice(100, 300))
      keep('certificate', bodyOf(host.certPem))
      keep('root', bodyOf(host.caPem))
      const token = await hub.createToken({ hostname: `${own('expected host')}.example`, role })
      keep('token', token.slice(5))
      keep('hash of the token', createHash('sha256').update(token).digest('hex'))
      const access = await hub.admin<{ token: string }>('POST', '/v1/admin/admin-tokens', {
        name: own('admin token’s name'),
        role: 'viewer',
      })
      keep('admin token', access.token.slice(5))
      const { secret } = await hub.admin<{ secret: string }>('POST', '/v1/admin/webhooks', {
        url: `https://${own('webhook’s host')}.invalid/${own('webhook’s path')}`,
        tipos: [],
      })
      keep('webhook secret', secret.slice(6))
      await createDelivery(hub, hostname, own('carga'), [`${own('san')}.${permitted}`])
      const sealed = await sealForHosts([host], own('sealed secret'))
      keep('sealed file', Buffer.from(sealed.conteudo, 'base64').subarray(-200))
      await createSealedCargo(hub, own('sealed carga'), sealed)
      const file = join(hub.directory, 'pushed')
      await writeFile(file, own('pushed content'))
      const pushed = await hub.svc(
        'agente',
        'push',
        hostname,
        '--name',
        own('push'),
        '--file',
        file,
      )
      assert.equal(pushed.status, 0, pushed.stderr)
      const event = { tipo_evento: 'noted', payload: { text: own('payload') } }
      assertOk(await post(host.mtls, '/v1/events', event))
    }

    async function findWrappedKey(): Promise<string> {
      const config = await readFile(join(hub.vaultRoot, 'config.json'), 'utf8')
      const texts = config.matchAll(/"([A-Za-z0-9+/=]{40,})"/g)
      return (
        Array.from(texts, ([, text = '']) => text).toSorted((a, b) => b.length - a.length)[0] ?? ''
      )
    }
  },
)

/** Of a PEM text, from the middle of its base64: the DER there. */
function bodyOf(pem: string): Buffer {
  const [, body = ''] = /-----BEGIN CERTIFICATE-----\n([^-]+)/.exec(pem) ?? []
  const der = Buffer.from(body, 'base64')
  return der.subarray(der.length - 200)
}

/** Which of them is somewhere: a piece of it as it is, in hex, or in base64, whose letters depend on how many bytes of a group come before. */
function findCanaries(
  canaries: ReadonlyMap<string, Buffer>,
  places: readonly Buffer[],
): readonly string[] {
  return [...canaries]
    .filter(([, whole]) => {
      const piece = whole.subarray(0, FRAGMENT_BYTES)
      const forms = [
        piece.toString('latin1'),
        piece.toString('hex'),
        ...[0, 1, 2].map((bytes) =>
          Buffer.concat([Buffer.alloc(bytes), piece])
            .toString('base64')
            .slice(bytes === 0 ? 0 : 4, -4),
        ),
      ].map((form) => Buffer.from(form, 'latin1'))
      return places.some((place) => forms.some((form) => place.includes(form)))
    })
    .map(([what]) => what)
}
