import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { errnoCode } from '../../platform/errors.ts'
import { type FileOperations, nodeFileOperations } from './file-operations.ts'
import {
  currentVersionDirectory,
  ForeignFileError,
  restoreLinks,
  switchVersion,
  type VersionedLayout,
  type VersionFile,
} from './versioned-files.ts'

function layoutIn(directory: string): VersionedLayout {
  return {
    directory,
    versionsPath: '.versions/site',
    links: { 'site.crt': 'cert.pem', 'site.key': 'key.pem' },
    directoryMode: 0o755,
  }
}

function pair(version: number): VersionFile[] {
  return [
    { name: 'key.pem', content: `pair ${version}`, mode: 0o600 },
    { name: 'cert.pem', content: `pair ${version}`, mode: 0o644 },
  ]
}

async function temporaryDirectory(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'versioned-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

/** What a reader finds: a matching pair, or nothing at all; anything else is the fault that must not be. */
async function readPair(directory: string): Promise<string | undefined> {
  const [certificate, key] = await Promise.all(
    ['site.crt', 'site.key'].map((name) =>
      readFile(join(directory, name), 'utf8').catch((error: unknown) => {
        assert.equal(errnoCode(error), 'ENOENT')
        return undefined
      }),
    ),
  )
  assert.equal(certificate, key)
  return certificate
}

class Crash extends Error {}

/** The process dies before its n-th operation that changes anything; `observe` looks in before each. */
function dyingAt(
  n: number,
  observe: () => Promise<void>,
): FileOperations & { operations(): number } {
  let count = 0
  const changing = new Set([
    'makeDirectory',
    'makeLink',
    'writeNewFile',
    'rename',
    'syncDirectory',
    'removeTree',
  ])
  const wrapped = Object.fromEntries(
    Object.entries(nodeFileOperations).map(([name, operation]) => [
      name,
      async (...args: unknown[]) => {
        if (changing.has(name)) {
          await observe()
          count += 1
          if (count >= n) throw new Crash(`at operation ${n}: ${name}`)
        }
        return (operation as (...rest: unknown[]) => Promise<unknown>)(...args)
      },
    ]),
  )
  return { ...(wrapped as unknown as FileOperations), operations: () => count }
}

async function countOperations(before: number): Promise<number> {
  await using directory = await temporaryDirectory()
  const layout = layoutIn(directory.path)
  for (let version = 1; version <= before; version += 1) await switchVersion(layout, pair(version))
  const files = dyingAt(Infinity, () => Promise.resolve())
  await switchVersion(layout, pair(before + 1), files)
  return files.operations()
}

describe('a change of version', () => {
  for (const before of [0, 1, 3]) {
    test(`[AGT-36] cut at every operation after ${before} versions leaves the old or the new pair, and can be repeated`, async () => {
      const operations = await countOperations(before)
      assert.ok(operations > 6, `only ${operations} operations seen`)
      for (let n = 1; n <= operations; n += 1) {
        await using directory = await temporaryDirectory()
        const layout = layoutIn(directory.path)
        for (let version = 1; version <= before; version += 1)
          await switchVersion(layout, pair(version))
        const old = before === 0 ? undefined : `pair ${before}`
        const fresh = `pair ${before + 1}`
        const observe = async (): Promise<void> => {
          const found = await readPair(directory.path)
          assert.ok(found === old || found === fresh, `found ${found} at operation ${n}`)
        }
        await switchVersion(layout, pair(before + 1), dyingAt(n, observe)).catch((error: unknown) =>
          assert.ok(error instanceof Crash, String(error)),
        )
        await observe()
        await switchVersion(layout, pair(99))
        assert.equal(await readPair(directory.path), 'pair 99')
        const left = await readdir(join(directory.path, '.versions', 'site'))
        assert.ok(left.length <= 3 && !left.some((name) => name.endsWith('.tmp')), left.join(' '))
      }
    })
  }

  test('[AGT-36] a key is 0600 and a certificate 0644, whatever the umask', async () => {
    await using directory = await temporaryDirectory()
    const umask = process.umask(0o077)
    try {
      await switchVersion(layoutIn(directory.path), pair(1))
    } finally {
      process.umask(umask)
    }
    assert.equal((await stat(join(directory.path, 'site.key'))).mode & 0o777, 0o600)
    assert.equal((await stat(join(directory.path, 'site.crt'))).mode & 0o777, 0o644)
    assert.equal((await stat(join(directory.path, '.versions/site'))).mode & 0o777, 0o755)
  })

  test('[AGT-36] a key is never open to others, not even while it is staged', async () => {
    await using directory = await temporaryDirectory()
    const umask = process.umask(0)
    let looks = 0
    const observe = async (): Promise<void> => {
      for (const name of await readdir(directory.path, { recursive: true })) {
        if (!name.endsWith('key.pem')) continue
        looks += 1
        assert.equal((await stat(join(directory.path, name))).mode & 0o077, 0, name)
      }
    }
    try {
      for (const version of [1, 2]) {
        await switchVersion(layoutIn(directory.path), pair(version), dyingAt(Infinity, observe))
      }
    } finally {
      process.umask(umask)
    }
    assert.ok(looks > 6, `only ${looks} keys seen`)
  })

  test('[AGT-35] [AGT-37] is staged and synced before the one rename, whose directory is synced after it', async () => {
    await using directory = await temporaryDirectory()
    await switchVersion(layoutIn(directory.path), pair(1))
    const done: string[] = []
    const note = (name: string, path: string): void =>
      void done.push(`${name} ${path.slice(directory.path.length + 1)}`)
    await switchVersion(layoutIn(directory.path), pair(2), {
      ...nodeFileOperations,
      writeNewFile: async (path, content, mode) => {
        await nodeFileOperations.writeNewFile(path, content, mode)
        note('write', path)
      },
      rename: async (from, to) => {
        await nodeFileOperations.rename(from, to)
        note('rename', to)
      },
      syncDirectory: async (path) => {
        await nodeFileOperations.syncDirectory(path)
        note('sync', path)
      },
    })
    assert.deepEqual(done, [
      'write .versions/site/000002/key.pem',
      'write .versions/site/000002/cert.pem',
      'sync .versions/site/000002',
      'sync .versions/site',
      'rename .versions/site/current',
      'sync .versions/site',
    ])
  })

  const obstacles: [what: string, put: (directory: string) => Promise<void>][] = [
    ['a file of another', (directory) => writeFile(join(directory, 'site.crt'), 'precious')],
    ['a link of another', (directory) => symlink('/etc/passwd', join(directory, 'site.key'))],
    ['a dangling link of another', (directory) => symlink('/nowhere', join(directory, 'site.key'))],
    ['a linked versions directory', (directory) => symlink('/tmp', join(directory, '.versions'))],
  ]
  for (const [what, put] of obstacles) {
    test(`[AGT-39] ${what} in its place is refused and left alone`, async () => {
      await using directory = await temporaryDirectory()
      await put(directory.path)
      await assert.rejects(switchVersion(layoutIn(directory.path), pair(1)), ForeignFileError)
      assert.equal(
        await currentVersionDirectory(layoutIn(directory.path)).catch(() => undefined),
        undefined,
      )
    })
  }

  test('links that someone removed are put back', async () => {
    await using directory = await temporaryDirectory()
    const layout = layoutIn(directory.path)
    await switchVersion(layout, pair(1))
    await unlink(join(directory.path, 'site.crt'))
    await restoreLinks(layout)
    assert.equal(await readPair(directory.path), 'pair 1')
  })
})
