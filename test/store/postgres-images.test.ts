// Images in a real PostgreSQL, which loses connections at any piece, is killed, and has its rows changed by somebody else.

import assert from 'node:assert/strict'
import { NO_JOURNAL } from '../../src/hub/store/record-seal.ts'
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { makeImage } from '../../src/hub/journal/make-image.ts'
import { createJournal } from '../../src/hub/store/postgres/create-journal.ts'
import { PostgresImages } from '../../src/hub/store/postgres/postgres-images.ts'
import { PostgresJournal } from '../../src/hub/store/postgres/postgres-journal.ts'
import { WritableConnection } from '../../src/hub/store/postgres/writable-connection.ts'
import type { ImageWriter, JournalImages } from '../../src/hub/store/journal-images.ts'
import { restoreNewestImage } from '../../src/hub/store/sqlite/restore-image.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { postgresProgram, skipUnlessRunnable } from '../services/support/required-programs.ts'
import { appendOne, fillLog, ImageRig } from '../support/journal-images.ts'
import { type Postgresql, startPostgresql } from '../support/postgresql.ts'
import { openSharingStores, type SharingStores } from '../support/temporary-store.ts'

const VAULT_ID = 'a-vault'
const MIB = 1024 * 1024

describe(
  'images in PostgreSQL',
  { skip: skipUnlessRunnable([postgresProgram('postgres')]) },
  () => {
    let server: Postgresql
    let stores: SharingStores
    let images: PostgresImages
    let rig: ImageRig
    before(async () => {
      server = await startPostgresql()
      const connect = () =>
        new PostgresJournal(server.servers, VAULT_ID, { clock: systemClock, random: Math.random })
      stores = await openSharingStores(2, {
        begin: await createJournal(server.servers, VAULT_ID),
        connect,
      })
      images = new PostgresImages(server.servers, VAULT_ID)
      rig = new ImageRig(stores, images, connect)
    })
    after(async () => {
      await stores[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    })

    const count = async (table: string): Promise<number> => {
      const [row] = await server.query(`SELECT count(*)::integer AS rows FROM ${table}`)
      return (row as { rows: number }).rows
    }
    /** What happens before the piece of this number is written, or before the end. */
    const disturbed = (
      at: number | 'the end',
      disturb: () => Promise<unknown>,
    ): Pick<JournalImages, keyof JournalImages> => ({
      list: () => images.list(),
      read: (image) => images.read(image),
      trim: () => images.trim(),
      measure: () => images.measure(),
      begin: async (head, pieces) => {
        const writer = await images.begin(head, pieces)
        let next = 0
        return (
          writer && {
            append: async (piece) => {
              if (next === at) await disturb()
              next += 1
              await writer.append(piece)
            },
            finish: async () => {
              if (at === 'the end') await disturb()
              await writer.finish()
            },
            close: () => writer.close(),
          }
        )
      },
    })
    const makeDisturbed = (at: number | 'the end', disturb: () => Promise<unknown>) => {
      const { store, seal } = rig
      return makeImage({ store, images: disturbed(at, disturb), seal, clock: systemClock })
    }
    const cutOthers = () =>
      server.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
         WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`,
      )

    test('[JRN-6] a new hub begins with one and follows the rest, from the first record on', async () => {
      assert.deepEqual(await images.list(), [])
      assert.equal((await images.measure()).newest, undefined)
      await rig.make()
      await appendOne(rig.store)
      await rig.assertJoins()
      await fillLog(rig.store, 2.5 * MIB)
      const made = await rig.make()
      assert.ok(made)
      const beside = stores.all[1]
      assert.ok(beside)
      for (let times = 0; times < 3; times += 1) await appendOne(beside)
      const { image } = await rig.assertJoins()
      assert.deepEqual(image.position, made.position)
      const { end, newest, recordsSince, recordBytesSince } = await images.measure()
      assert.equal(end, made.position.number + 4)
      assert.equal(recordsSince, 4)
      const [sum] = await server.query(
        `SELECT sum(octet_length(selado))::integer AS bytes FROM diario WHERE numero > ${made.position.number}`,
      )
      assert.deepEqual(sum, { bytes: recordBytesSince })
      assert.equal(newest?.number, made.position.number)
      assert.equal(newest?.bytes, made.bytes)
      assert.ok(newest && newest.ageMs >= 0 && newest.ageMs < 60_000)
    })

    test('[JRN-8] writes wait for no image, and a second image is not begun beside it', async () => {
      let written = 0
      const write = async (): Promise<void> => {
        for (const store of stores.all) await appendOne(store)
        assert.equal(await rig.make(stores.all[1]), undefined)
        await images.trim()
        written += 1
      }
      const made = await makeDisturbed(1, write)
      assert.equal(written, 1)
      assert.equal((await images.measure()).recordsSince, 2)
      assert.equal((await images.measure()).newest?.number, made?.position.number)
      await rig.assertJoins()
    })

    test('[JRN-8] one that loses its connection at any piece leaves the newest whole one', async () => {
      const [newest] = await images.list()
      assert.ok(newest)
      await appendOne(rig.store)
      for (const at of [0, 1, 2, 'the end'] as const) {
        await assert.rejects(makeDisturbed(at, cutOthers), { code: 'store_unavailable' })
        assert.deepEqual((await images.list())[0], newest)
        assert.equal(await count('imagem WHERE inteira_em IS NULL'), 1, 'the last half alone')
      }
      await rig.assertJoins()
      assert.ok(await rig.make())
      assert.equal(await count('imagem WHERE inteira_em IS NULL'), 0)
      assert.equal(
        await count(
          'imagem_parte WHERE imagem NOT IN (SELECT id FROM imagem WHERE inteira_em IS NOT NULL)',
        ),
        0,
      )
    })

    test('[JRN-8] one whose server is killed leaves the newest whole one', async () => {
      const [newest] = await images.list()
      await appendOne(rig.store)
      const kill = async (): Promise<void> => {
        server.kill('SIGKILL')
        await server.startAgain()
      }
      await assert.rejects(makeDisturbed(1, kill), { code: 'store_unavailable' })
      assert.deepEqual((await images.list())[0], newest)
      await rig.assertJoins()
      assert.ok(await rig.make())
      await rig.assertJoins()
    })

    test('[JRN-8] one that has ended is in the way of nobody, from that moment on', async () => {
      const probe = await WritableConnection.open(server.servers)
      const countLocks = async (): Promise<number> =>
        (await probe.query(`SELECT pid FROM pg_locks WHERE locktype = 'advisory'`)).length
      const head = rig.seal.headOf(await heldCopy(rig))
      for (let times = 0; times < 10; times += 1) {
        const writer = await images.begin(head, 1)
        assert.equal(await countLocks(), 1)
        await writer?.close()
        assert.equal(await countLocks(), 0)
        await images.trim()
        assert.equal(await countLocks(), 0)
      }
      probe.destroy()
    })

    test('[JRN-8] one that lost pieces never becomes whole', async () => {
      const [newest] = await images.list()
      const lose = () =>
        server.query(
          'DELETE FROM imagem_parte WHERE parte = 1 AND imagem = (SELECT id FROM imagem WHERE inteira_em IS NULL)',
        )
      await assert.rejects(makeDisturbed('the end', lose), {
        code: 'store_unavailable',
        message: 'the image: the image lost pieces',
      })
      assert.deepEqual((await images.list())[0], newest)
    })

    test('[JRN-10] two images stay, and the records since the older one', async () => {
      await rig.make()
      await appendOne(rig.store)
      const older = await rig.make()
      await appendOne(rig.store)
      const newest = await rig.make()
      await appendOne(rig.store)
      assert.ok(older && newest)
      const sizeBefore = await images.measure()
      await images.trim()
      assert.deepEqual(
        (await images.list()).map(({ position }) => position.number),
        [newest.position.number, older.position.number],
      )
      assert.equal(await count('imagem'), 2)
      const [first] = await server.query('SELECT min(numero)::integer AS numero FROM diario')
      assert.deepEqual(first, { numero: older.position.number })
      const size = await images.measure()
      assert.deepEqual({ ...size, newest: undefined }, { ...sizeBefore, newest: undefined })
      assert.equal(size.recordsSince, 1)
    })

    test('[JRN-10] whose removal is cut off anywhere is removed the next time', async (context) => {
      const whole = async () => (await images.list()).map(({ id }) => id)
      for (let times = 0; times < 3; times += 1) {
        await appendOne(rig.store)
        await rig.make()
      }
      const kept = (await whole()).slice(0, 2)
      let cut = 0
      for (let times = 0; times < 5; times += 1) {
        const trimming = images.trim().catch((error: { code: string }) => {
          assert.equal(error.code, 'store_unavailable')
          cut += 1
        })
        await Promise.all([trimming, cutOthers()])
        assert.deepEqual((await whole()).slice(0, 2), kept)
      }
      context.diagnostic(`${cut} of 5 were cut off`)
      await images.trim()
      assert.deepEqual(await whole(), kept)
      assert.equal(await count('imagem'), 2)
      await rig.assertJoins()
    })

    test('[JRN-12] that is cut off while a hub reads it leaves no database', async () => {
      const { store, path, seal } = rig
      await store.follow()
      await rm(path, { force: true })
      const read: JournalImages['read'] = async function* (image) {
        for await (const piece of images.read(image)) {
          yield piece
          await cutOthers()
        }
      }
      const cutting = { ...disturbed('the end', cutOthers), read }
      const { dataKey } = stores
      await assert.rejects(restoreNewestImage({ images: cutting, seal, path, dataKey }), {
        code: 'store_unavailable',
      })
      assert.deepEqual(
        (await readdir(dirname(path))).filter((name) => name.startsWith(basename(path))),
        [],
      )
      await rig.assertJoins()
    })

    test('[JRN-11] a hub that needs older records is behind, and one that does not is not', async () => {
      const journal = rig.connect()
      const [first] = (await server.query('SELECT min(numero)::integer AS numero FROM diario')) as {
        numero: number
      }[]
      assert.ok(first)
      await assert.rejects(journal.read(first.numero - 2, NO_JOURNAL), { code: 'store_behind' })
      assert.equal(
        (await journal.read(first.numero - 1, NO_JOURNAL)).records[0]?.number,
        first.numero,
      )
      await journal.close()
    })

    for (const { name, sql } of [
      {
        name: 'damaged',
        sql: `UPDATE imagem_parte SET selado = set_byte(selado, 99, (get_byte(selado, 99) + 1) % 256) WHERE parte = 1`,
      },
      {
        name: 'swapped',
        sql: `UPDATE imagem_parte SET parte = CASE parte WHEN 0 THEN 100 WHEN 1 THEN 0 ELSE parte END`,
      },
      { name: 'missing', sql: 'DELETE FROM imagem_parte WHERE parte = 0' },
      {
        name: 'surplus',
        sql: 'INSERT INTO imagem_parte SELECT imagem, 1000, selado FROM imagem_parte WHERE parte = 1',
      },
    ]) {
      test(`[JRN-7] a piece that is ${name} in the database is found`, async () => {
        await server.query(`CREATE TABLE copia AS SELECT * FROM imagem_parte`)
        const statements = [
          sql,
          ...(name === 'swapped' ? ['UPDATE imagem_parte SET parte = 1 WHERE parte = 100'] : []),
        ]
        for (const statement of statements) await server.query(statement)
        await assert.rejects(rig.restore(), { code: 'store_corrupt' })
        await server.query('DELETE FROM imagem_parte')
        await server.query('INSERT INTO imagem_parte SELECT * FROM copia')
        await server.query('DROP TABLE copia')
        await rig.assertJoins()
      })
    }

    test('[JRN-4] a vault of another journal finds neither images nor a place for its own', async () => {
      const other = new PostgresImages(server.servers, 'another-vault')
      await assert.rejects(other.list(), { code: 'store_diverged' })
      await assert.rejects(other.measure(), { code: 'store_diverged' })
      await using elsewhere = await openSharingStores(1)
      const [store] = elsewhere.all
      assert.ok(store)
      const make = (into: JournalImages): Promise<unknown> =>
        makeImage({ store, images: into, seal: rig.seal, clock: systemClock })
      await assert.rejects(make(other), { code: 'store_diverged' })
      const { end } = await images.measure()
      while (elsewhere.journal.end.number < end) await appendOne(store)
      await assert.rejects(make(images), { code: 'store_diverged' })
      await appendOne(store)
      await assert.rejects(make(images), {
        code: 'store_diverged',
        message: `the journal has no record ${end + 1}`,
      })
      const writer: ImageWriter | undefined = await images.begin(
        { ...rig.seal.headOf(await heldCopy(rig)), salt: '00' },
        1,
      )
      await writer?.close()
      assert.ok(writer, 'what was refused keeps nobody from the next one')
    })
  },
)

async function heldCopy({ store }: ImageRig) {
  const copy = await store.openCopy()
  await copy.close()
  return copy
}
