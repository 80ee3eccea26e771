import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { Secret } from '../../../platform/secret.ts'
import { appendOne, fillLog, ImageRig } from '../../../../test/support/journal-images.ts'
import { openSharingStores } from '../../../../test/support/temporary-store.ts'
import type { StoreCopy } from '../store-copy.ts'
import type { MemoryImages } from '../../../../test/fakes/memory-images.ts'
import { systemClock } from '../../../platform/clock.ts'
import { makeImage } from '../../journal/make-image.ts'
import { ImageSeal } from '../image-seal.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { restoreNewestImage } from './restore-image.ts'

const MIB = 1024 * 1024

describe('an image of a vault in its journal', () => {
  let rig: ImageRig
  let images: MemoryImages
  beforeEach(async () => {
    const stores = await openSharingStores(1)
    images = stores.journal.images
    rig = new ImageRig(stores, images, () => stores.journal)
    await fillLog(rig.store, 2.5 * MIB)
  })
  afterEach(() => rig.stores[Symbol.asyncDispose]())

  const newest = () => images.stored.at(-1) ?? assert.fail('an image')

  test('[JRN-6] becomes a database that follows the rest, the same row for row', async () => {
    const made = await rig.make()
    assert.ok(made)
    assert.equal(made.position.number, 1)
    assert.equal(newest().pieces.length, Math.ceil(made.bytes / MIB))
    assert.ok(newest().pieces.length > 2)
    for (let count = 0; count < 5; count += 1) await appendOne(rig.store)
    const { image, damaged } = await rig.assertJoins()
    assert.deepEqual(image.position, made.position)
    assert.deepEqual(damaged, [])
  })

  test('[JRN-6] of the beginning, before any record, is where all hubs begin', async () => {
    await using stores = await openSharingStores(1)
    const { journal } = stores
    const first = new ImageRig(stores, journal.images, () => journal)
    assert.deepEqual((await first.make())?.position, journal.end)
    await appendOne(first.store)
    await first.assertJoins()
  })

  for (const { name, spoil, says } of [
    {
      name: 'with a bit that was changed',
      spoil: (pieces: Buffer[]) => void pieces[1]?.writeUInt8((pieces[1].at(77) ?? 0) ^ 1, 77),
      says: 'the image at record 1 has another piece in the place of 1',
    },
    {
      name: 'with two pieces that changed places',
      spoil: (pieces: Buffer[]) => void pieces.splice(0, 2, ...pieces.slice(0, 2).reverse()),
      says: 'the image at record 1 has another piece in the place of 0',
    },
    {
      name: 'without its last piece',
      spoil: (pieces: Buffer[]) => void pieces.pop(),
      says: /^the image at record 1 ends after \d pieces of \d$/,
    },
    {
      name: 'without a piece in its middle',
      spoil: (pieces: Buffer[]) => void pieces.splice(1, 1),
      says: 'the image at record 1 has another piece in the place of 1',
    },
    {
      name: 'with a piece that is there twice at the end',
      spoil: (pieces: Buffer[]) => void pieces.push(pieces.at(-1) ?? Buffer.alloc(0)),
      says: 'the image at record 1 goes on behind its end',
    },
    {
      name: 'with an empty piece',
      spoil: (pieces: Buffer[]) => void pieces.splice(0, 1, Buffer.alloc(0)),
      says: 'the image at record 1 has another piece in the place of 0',
    },
    {
      name: 'without any piece',
      spoil: (pieces: Buffer[]) => void pieces.splice(0),
      says: /^the image at record 1 ends after 0 pieces of \d$/,
    },
  ]) {
    test(`[JRN-7] ${name} is refused, and nothing is left of it`, async () => {
      await rig.make()
      spoil(newest().pieces)
      await assert.rejects(rig.restore(), { code: 'store_corrupt', message: says })
      await assertNothingLeft()
    })
  }

  test('[JRN-7] with pieces of another image of the same position is refused', async () => {
    await rig.make()
    await rig.make()
    const [one, other] = images.stored
    assert.ok(one && other)
    const [piece] = one.pieces
    assert.ok(piece)
    other.pieces[0] = piece
    one.pieces.length = 0
    await assert.rejects(rig.restore(), { code: 'store_corrupt' })
  })

  test('[JRN-7] that is said to be of another position, length, or version is refused', async () => {
    await rig.make()
    const stored = newest()
    const { position } = stored
    for (const claim of [
      { position: { ...position, number: position.number - 1 } },
      { position: { ...position, hash: randomBytes(32) } },
      { bytes: stored.bytes - 2048 },
      { bytes: stored.bytes + MIB },
      { bytes: Number.MAX_SAFE_INTEGER },
      { version: stored.version - 1 },
      { salt: randomBytes(32).toString('hex') },
    ]) {
      images.stored.splice(0, images.stored.length, { ...stored, ...claim })
      await assert.rejects(rig.restore(), { code: 'store_corrupt' }, JSON.stringify(claim))
    }
  })

  test('[JRN-7] of another vault, or under another key, is refused', async () => {
    await rig.make()
    for (const seal of [
      new ImageSeal(rig.stores.dataKey, 'another-vault'),
      new ImageSeal(new Secret(randomBytes(32)), 'a-vault'),
    ]) {
      await assert.rejects(rig.restore(seal), { code: 'store_corrupt' })
    }
  })

  test('[JRN-12] that is damaged gives way to the one before it', async () => {
    const first = await rig.make()
    await appendOne(rig.store)
    await rig.make()
    newest().pieces.reverse()
    const { image, damaged } = await rig.assertJoins()
    assert.deepEqual(image.position, first?.position)
    assert.deepEqual(
      damaged.map(({ code, message }) => ({ code, message })),
      [
        {
          code: 'store_corrupt',
          message: 'the image at record 2 has another piece in the place of 0',
        },
      ],
    )
  })

  test('[JRN-8] never becomes one when the journal turns out to be another one meanwhile', async () => {
    await using elsewhere = await openSharingStores(1)
    for (let records = 0; records < 3; records += 1) {
      await appendOne(elsewhere.all[0] ?? assert.fail('a store'))
    }
    const { store, seal } = rig
    const openCopy = async () => {
      const copy = await store.openCopy()
      rig.stores.journal.become(elsewhere.journal)
      return copy
    }
    const follow = () => store.follow()
    await assert.rejects(
      makeImage({ store: { openCopy, follow }, images, seal, clock: systemClock }),
      {
        code: 'store_diverged',
        message: 'record 2 of the journal does not follow record 1 of this vault',
      },
    )
    assert.deepEqual(await images.list(), [])
  })

  test('[JRN-8] is made of no vault that follows no journal', async () => {
    const { path, stores, seal } = rig
    const { dataKey } = stores
    const alone = await openSqliteStore({ path, dataKey, createIfMissing: true })
    await assert.rejects(makeImage({ store: alone, images, seal, clock: systemClock }), {
      code: 'store_diverged',
      message: 'this vault follows no journal',
    })
    await alone.close()
  })

  test('[JRN-8] gives way to a backup, and no backup gives way to it', async () => {
    const copies: StoreCopy[] = []
    const openCopy = async (manners?: 'gives way') => {
      const copy = await rig.store.openCopy(manners)
      const read: StoreCopy['read'] = async (into, position) => {
        if (position === MIB) copies.push(await rig.store.openCopy())
        await copy.read(into, position)
      }
      return { ...copy, read }
    }
    const { store, seal } = rig
    const follow = () => store.follow()
    const make = () => makeImage({ store: { openCopy, follow }, images, seal, clock: systemClock })
    await assert.rejects(make(), { code: 'store_unavailable', message: 'the copy is closed' })
    await assert.rejects(make(), {
      code: 'store_unavailable',
      message: 'another copy is open',
    })
    await copies[0]?.read(Buffer.alloc(100), 0)
    await assert.rejects(store.openCopy(), { message: 'another copy is open' })
    await copies[0]?.close()
    assert.ok(await rig.make())
    await rig.assertJoins()
  })

  test('[JRN-12] of a newer version is refused by name', async () => {
    await rig.make()
    const stored = newest()
    images.stored.splice(0, 1, { ...stored, version: 1000 })
    await assert.rejects(rig.restore(), { code: 'store_newer' })
    images.stored.splice(0, 1, { ...stored, kind: 'another-store' })
    await assert.rejects(rig.restore(), { code: 'store_newer' })
    images.stored.length = 0
    await assert.rejects(rig.restore(), {
      code: 'store_missing',
      message: 'the journal has no image of this vault',
    })
  })

  test('[JRN-12] whose database says another position is refused', async () => {
    const position = { number: 0, hash: Buffer.alloc(32, 7) }
    const openCopy = async () => ({ ...(await rig.store.openCopy()), position })
    const { images: into, seal } = rig
    const follow = () => rig.store.follow()
    await makeImage({ store: { openCopy, follow }, images: into, seal, clock: systemClock })
    await assert.rejects(rig.restore(), {
      code: 'store_corrupt',
      message: 'the image at record 0 has another position',
    })
    await assertNothingLeft()
  })

  test('[JRN-12] replaces no database, and what a crash left of another one', async () => {
    await rig.make()
    await writeFile(`${rig.path}.new`, 'half')
    await writeFile(`${rig.path}.new-wal`, 'of another one')
    await rig.assertJoins()
    const { path, stores } = rig
    const again = { images, seal: rig.seal, path, dataKey: stores.dataKey }
    await assert.rejects(restoreNewestImage(again), { code: 'store_exists' })
  })

  async function assertNothingLeft(): Promise<void> {
    const names = await readdir(dirname(rig.path))
    assert.deepEqual(
      names.filter((name) => name.startsWith(basename(rig.path))),
      [],
    )
  }
})
