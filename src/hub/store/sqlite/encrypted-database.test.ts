import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readlinkSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { Secret } from '../../../platform/secret.ts'
import {
  checkEveryPage,
  type Connection,
  createDatabase,
  inspectAuditLog,
  openReader,
  openWriter,
} from './encrypted-database.ts'
import { MIGRATIONS } from './migrations.ts'

const PAGE_BYTES = 2048

describe('the encrypted database file', () => {
  const dataKey = new Secret(randomBytes(32))
  let directory: string
  let path: string
  let content: Buffer
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'database-'))
    path = join(directory, 'db.enc')
    await createDatabase(path, dataKey)
    content = await readFile(path)
  })
  afterEach(() => rm(directory, { recursive: true }))

  const damages: readonly [title: string, damage: (content: Buffer) => Buffer, key?: Buffer][] = [
    ['one with a flipped bit in its first page', (bytes) => flip(bytes, 200)],
    ['one with a flipped bit in its plain header', (bytes) => flip(bytes, 16)],
    ['one with a flipped bit in its salt', (bytes) => flip(bytes, 3)],
    ['one that was cut', (bytes) => bytes.subarray(0, bytes.length / 2)],
    ['one that was cut inside its first page', (bytes) => bytes.subarray(0, 700)],
    ['an empty one', () => Buffer.alloc(0)],
    ['something else', () => Buffer.alloc(20_000, 'not a database ')],
    ['zeros', () => Buffer.alloc(20_480)],
    ['one under another key', (bytes) => bytes, randomBytes(32)],
  ]
  for (const [title, damage, key] of damages) {
    test(`[VLT-9] ${title} is refused by name and left as it is`, async () => {
      await writeFile(path, damage(content))
      const before = await describeDirectory(directory)
      const openKey = key === undefined ? dataKey : new Secret(key)
      assert.throws(
        () => openWriter(path, openKey),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, 'store_corrupt')
          assert.ok(error.message.includes(path), error.message)
          return true
        },
      )
      assert.deepEqual(await describeDirectory(directory), before)
      assert.deepEqual(listOpen(directory), [])
    })
  }

  test('[VLT-9] a damaged page of the audit log is refused by name', async () => {
    const [page] = findPages("name = 'eventos'")
    await writeFile(path, flip(content, (page ?? 0) * PAGE_BYTES - 1))
    assert.throws(
      () => inspectAuditLog(path, dataKey, 0),
      (error: Error & { code?: string }) =>
        error.code === 'store_corrupt' && error.message.includes(path),
    )
  })

  test('[VLT-17] any damaged page is found by a look at all of them, which changes nothing', async () => {
    checkEveryPage(path, dataKey)
    const pages = findPages('true')
    assert.ok(pages.length >= 30, `only ${pages.length} pages`)
    for (const page of pages) {
      await writeFile(path, flip(content, (page - 1) * PAGE_BYTES + 300))
      const before = await describeDirectory(directory)
      assert.throws(
        () => checkEveryPage(path, dataKey),
        (error: Error & { code?: string }) =>
          error.code === 'store_corrupt' && error.message.includes(path),
        `page ${page}`,
      )
      assert.deepEqual(await describeDirectory(directory), before)
    }
  })

  test('one that was left with a WAL is not touched when it is refused', async () => {
    const connection = openWriter(path, dataKey)
    connection.exec(`INSERT INTO politicas (role, nome, sans_permitidos, cargas_automaticas)
      VALUES ('r', 'n', '[]', '[]')`)
    const copies = await describeDirectory(directory)
    assert.ok('db.enc-wal' in copies)
    assert.throws(() => openWriter(path, new Secret(randomBytes(32))), { code: 'store_corrupt' })
    assert.deepEqual(await describeDirectory(directory), copies)
    connection.close()
  })

  test('[VLT-9] a newer format is refused and left as it is', async () => {
    useConnection((connection) => connection.pragma('user_version = 999'))
    const before = await describeDirectory(directory)
    assert.throws(() => openWriter(path, dataKey), {
      code: 'store_newer',
      message: `${path} has format 999, this program knows formats up to ${MIGRATIONS.length}`,
    })
    assert.deepEqual(await describeDirectory(directory), before)
  })

  test('[JRN-15] [VLT-16] a newer format that says so is used as it is', async () => {
    const later = { sql: 'CREATE TABLE salas (nome TEXT);', readableFrom: MIGRATIONS.length }
    openWriter(path, dataKey, { migrations: [...MIGRATIONS, later] }).close()
    const writer = openWriter(path, dataKey)
    assert.equal(writer.pragma('user_version', { simple: true }), MIGRATIONS.length + 1)
    writer.close()
    const last = { sql: 'DROP TABLE salas;', readableFrom: MIGRATIONS.length + 2 }
    openWriter(path, dataKey, { migrations: [...MIGRATIONS, later, last] }).close()
    const before = await describeDirectory(directory)
    assert.throws(() => openWriter(path, dataKey), { code: 'store_newer' })
    assert.deepEqual(await describeDirectory(directory), before)
  })

  test("another program's database is refused", () => {
    useConnection((connection) => connection.pragma('application_id = 1'))
    assert.throws(() => openWriter(path, dataKey), {
      message: `${path} is not a database of this program`,
    })
  })

  test('a missing one is not made by opening it', async () => {
    await rm(path)
    assert.throws(() => openWriter(path, dataKey), { code: 'store_missing' })
    assert.deepEqual(await readdir(directory), [])
  })

  test('creating never replaces one', async () => {
    await assert.rejects(createDatabase(path, dataKey), { code: 'store_exists' })
    assert.deepEqual(await readFile(path), content)
  })

  test('what an interrupted creation left does not matter', async () => {
    await rm(path)
    await writeFile(`${path}.new`, 'half')
    await writeFile(`${path}.new-wal`, 'half')
    await createDatabase(path, dataKey)
    assert.deepEqual(await readdir(directory), ['db.enc'])
    useConnection((connection) => connection.exec('SELECT * FROM eventos'))
  })

  test('the reader cannot write', () => {
    const reader = openReader(path, dataKey)
    assert.throws(() => reader.exec('DELETE FROM cargas'), { code: 'SQLITE_READONLY' })
    reader.close()
  })

  test('[RES-8] every commit waits for the disk', () => {
    useConnection((connection) => {
      assert.equal(connection.pragma('synchronous', { simple: true }), 2)
      assert.equal(connection.pragma('temp_store', { simple: true }), 2)
    })
  })

  /** Numbers, from 1, of the pages of the tables and indexes that this is true of. */
  function findPages(condition: string): number[] {
    let pages: number[] = []
    useConnection((connection) => {
      const rows = connection.prepare(`SELECT pageno FROM dbstat WHERE ${condition}`).all()
      pages = (rows as { readonly pageno: number }[]).map(({ pageno }) => pageno)
    })
    return pages
  }

  function useConnection(work: (connection: Connection) => void): void {
    const connection = openWriter(path, dataKey)
    try {
      work(connection)
    } finally {
      connection.close()
    }
  }
})

function flip(content: Buffer, position: number): Buffer {
  const changed = Buffer.from(content)
  changed[position] = (changed[position] ?? 0) ^ 1
  return changed
}

/** SQLite may make an empty WAL to look at the file, and an index of it (-shm), which holds nothing. */
async function describeDirectory(directory: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  for (const name of (await readdir(directory)).filter((file) => !file.endsWith('-shm'))) {
    const content = await readFile(join(directory, name))
    if (name.endsWith('-wal') && content.length === 0) continue
    files[name] = createHash('sha256').update(content).digest('hex')
  }
  return files
}

/** Of the files below a directory, those that this process has open. */
function listOpen(directory: string): string[] {
  return readdirSync('/proc/self/fd')
    .map((descriptor) => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`)
      } catch {
        // The one by which the list itself was read.
        return ''
      }
    })
    .filter((target) => target.startsWith(directory))
}
