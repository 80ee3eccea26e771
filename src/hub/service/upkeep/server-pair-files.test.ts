import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { collectLog, type LoggedLine } from '../../../../test/support/collected-log.ts'
import { withFailingDisk } from '../../../../test/support/failing-disk.ts'
import { createRootPem } from '../../../dev-ca/issuer.ts'
import { generateEcP256Key } from '../../../pki/keys.ts'
import {
  readServerPair,
  type ServerPair,
  storeRoots,
  storeServerPair,
} from './server-pair-files.ts'

let old: ServerPair
let fresh: ServerPair

before(async () => {
  const create = async (commonName: string): Promise<ServerPair> => {
    const key = await generateEcP256Key()
    const validity = { notBefore: new Date(0), notAfter: new Date(1e12) }
    return { keyPem: key.pem, chainPem: await createRootPem({ commonName, ...validity }, key) }
  }
  ;[old, fresh] = [await create('old'), await create('fresh')]
})

interface Vault {
  readonly root: string
  readonly lines: LoggedLine[]
  readonly read: () => Promise<ServerPair | undefined>
}

async function inVault(work: (vault: Vault) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'pair-'))
  const { log, lines } = collectLog()
  try {
    await work({ root, lines, read: () => readServerPair(root, log) })
  } finally {
    await rm(root, { recursive: true })
  }
}

const isSame = (pair: ServerPair | undefined, other: ServerPair): boolean =>
  pair?.keyPem === other.keyPem && pair.chainPem === other.chainPem

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777

describe('the hub’s certificate and its key on disk', () => {
  test('[VLT-15] are what was stored, and nobody else can read the key', () =>
    inVault(async ({ root, read }) => {
      assert.equal(await read(), undefined)
      await storeServerPair(root, old, 'the roots')
      assert.ok(isSame(await read(), old))
      await storeServerPair(root, fresh, 'other roots')
      assert.ok(isSame(await read(), fresh))
      assert.deepEqual((await readdir(root)).toSorted(), ['ca.crt', 'server.crt', 'server.key'])
      assert.equal(await modeOf(join(root, 'server.key')), 0o600)
      assert.equal(await readFile(join(root, 'ca.crt'), 'utf8'), 'other roots')
    }))

  test('are none without one of the two', () =>
    inVault(async ({ root, read }) => {
      for (const name of ['server.key', 'server.crt']) {
        await storeServerPair(root, old, 'the roots')
        await rm(join(root, name))
        assert.equal(await read(), undefined)
      }
    }))

  test('[VLT-15] match after a disk that was full from any of the changes on, and can be stored then', () =>
    inVault(async ({ root, read }) => {
      await storeServerPair(root, old, 'the roots')
      const store = (): Promise<void> => storeServerPair(root, fresh, 'the roots')
      let failed = 0
      for (;;) {
        const from = failed + 1
        const attempt = withFailingDisk(
          (change) => change >= from,
          async () => {
            const outcome = await store().then(
              () => 'stored',
              (error: Error) => error.message,
            )
            const message = `cannot store the server certificate in ${root}: ENOSPC`
            assert.ok(outcome === 'stored' || outcome === message, outcome)
            const pair = await read()
            assert.ok(isSame(pair, old) || isSame(pair, fresh), `full from change ${from} on`)
            if (outcome === 'stored') throw new Error('all done')
          },
        )
        if ((await attempt.catch((error: Error) => error.message)) === 'all done') break
        failed += 1
        await storeServerPair(root, old, 'the roots')
        assert.ok(isSame(await read(), old), `stored after it was full from change ${from} on`)
      }
      assert.ok(failed >= 7, `${failed} changes`)
    }))

  test('[VLT-15] match after a kill between certificate and key: the key that waited is put in its place', () =>
    inVault(async ({ root, read }) => {
      await storeServerPair(root, old, 'the roots')
      await writeFile(join(root, 'server.key.new'), fresh.keyPem)
      assert.ok(isSame(await read(), old), 'a key that waits is of no use before its certificate')
      await writeFile(join(root, 'server.crt'), fresh.chainPem)
      assert.ok(isSame(await read(), fresh))
      assert.equal(await readFile(join(root, 'server.key'), 'utf8'), fresh.keyPem)
      assert.deepEqual((await readdir(root)).toSorted(), ['ca.crt', 'server.crt', 'server.key'])
    }))

  test('[VLT-15] are read from a disk that nothing can be renamed on; the log says so', () =>
    inVault(async ({ root, lines, read }) => {
      await storeServerPair(root, fresh, 'the roots')
      await rename(join(root, 'server.key'), join(root, 'server.key.new'))
      await withFailingDisk(
        () => true,
        async () => assert.ok(isSame(await read(), fresh)),
      )
      assert.deepEqual(
        lines.map(({ level, message }) => [level, message]),
        [['warn', 'Key of the server certificate not renamed']],
      )
    }))

  test('[VLT-15] match whenever the disk was full while a key waited that is the one in use', () =>
    inVault(async ({ root, read }) => {
      for (let from = 1; from <= 9; from += 1) {
        await storeServerPair(root, fresh, 'the roots')
        await rename(join(root, 'server.key'), join(root, 'server.key.new'))
        await writeFile(join(root, 'server.key'), old.keyPem)
        await withFailingDisk(
          (change) => change >= from,
          async () => {
            await storeServerPair(root, old, 'the roots').catch(() => undefined)
            const pair = await read()
            assert.ok(isSame(pair, fresh) || isSame(pair, old), `full from change ${from} on`)
          },
        )
      }
    }))

  test('that are no PEM are read as they are, for whoever judges them', () =>
    inVault(async ({ root, read }) => {
      for (const name of ['server.crt', 'server.key', 'server.key.new']) {
        await writeFile(join(root, name), `noise of ${name}`)
      }
      const noise = { keyPem: 'noise of server.key', chainPem: 'noise of server.crt' }
      assert.deepEqual(await read(), noise)
    }))

  test('that cannot be read are a failure that says which, and what to do', () =>
    inVault(async ({ root, read }) => {
      await writeFile(join(root, 'server.crt'), 'x'.repeat(1024 * 1024 + 1))
      await assert.rejects(read(), (error: Error & { code?: string; hint?: string }) => {
        assert.equal(error.code, 'server_certificate_files')
        assert.match(error.message, /^cannot read .*\/server\.crt: /)
        assert.match(error.hint ?? '', /^check owner, mode and free space of /)
        return true
      })
    }))
})

test('[TRU-1] the roots beside them are written when they are others, and only then', () =>
  inVault(async ({ root }) => {
    await storeRoots(root, 'one')
    assert.equal(await readFile(join(root, 'ca.crt'), 'utf8'), 'one')
    assert.equal(await modeOf(join(root, 'ca.crt')), 0o644)
    await withFailingDisk(
      () => true,
      async () => {
        await storeRoots(root, 'one')
        await assert.rejects(storeRoots(root, 'other'), {
          code: 'server_certificate_files',
          message: `cannot store the roots in ${root}: ENOSPC`,
        })
      },
    )
    assert.equal(await readFile(join(root, 'ca.crt'), 'utf8'), 'one')
  }))
