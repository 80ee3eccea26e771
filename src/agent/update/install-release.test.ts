import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { installRelease } from './install-release.ts'
import { nodeUpdateFiles, type UpdateFiles } from './update-files.ts'

const OLD = 'the old one'
const RELEASE = { content: Buffer.from('the new one'), version: '0.1.1' }
/** Enough to be past the last operation. */
const OPERATIONS_MAX = 40

class Stopped extends Error {}

describe('[UPD-5] an installation', () => {
  test('leaves the new one, the old one and the marker', async () => {
    await using place = await Place.create()
    await place.install(nodeUpdateFiles)
    assert.deepEqual(await place.read(), {
      'svc-agent': 'the new one',
      'svc-agent.old': OLD,
      'svc-agent.update': 'old=0.1.0\nnew=0.1.1\noutcome=network\nat=2026-11-21T12:00:00.000Z\n',
    })
    assert.equal((await stat(place.binary)).mode & 0o777, 0o755)
  })

  test('killed before any operation leaves one of the two, whole, with all that undoes it', async () => {
    let isThrough = false
    for (let count = 0; !isThrough; count += 1) {
      assert.ok(count < OPERATIONS_MAX)
      await using place = await Place.create()
      isThrough = await place.install(dyingAfter(count)).then(
        () => true,
        (error: unknown) => {
          assert.ok(error instanceof Stopped)
          return false
        },
      )
      const files = await place.read()
      if (files['svc-agent'] === OLD) {
        await place.install(nodeUpdateFiles)
        assert.equal((await place.read())['svc-agent'], 'the new one')
      } else {
        assert.equal(files['svc-agent'], 'the new one')
        assert.match(files['svc-agent.update'] ?? '', /^new=0\.1\.1$/m)
      }
      const { 'svc-agent.old': old, ...rest } = await place.read()
      assert.equal(old, OLD, `after ${count} operations`)
      assert.deepEqual(Object.keys(rest), ['svc-agent', 'svc-agent.update'])
    }
  })

  test('that fails at any operation is undone', async () => {
    let failed = 0
    for (let count = 0; count < OPERATIONS_MAX; count += 1) {
      await using place = await Place.create()
      const isThrough = await place.install(failingAt(count)).then(
        () => true,
        () => false,
      )
      if (isThrough) break
      failed += 1
      const { 'svc-agent.old': old = OLD, ...rest } = await place.read()
      assert.equal(old, OLD)
      // The last operation only makes durable what is done.
      if (rest['svc-agent'] !== OLD) continue
      assert.deepEqual(Object.keys(rest), ['svc-agent'], `at operation ${count}`)
    }
    assert.ok(failed > 8, `${failed} operations failed`)
  })

  test('of what does not say its version, or says another, is undone', async () => {
    for (const askVersion of [
      () => Promise.resolve('0.1.2'),
      () => Promise.reject(new Error('does not run')),
    ]) {
      await using place = await Place.create()
      await assert.rejects(
        place.install(nodeUpdateFiles, askVersion),
        /it says 0\.1\.2|does not run/,
      )
      assert.deepEqual(await place.read(), { 'svc-agent': OLD })
    }
  })
})

class Place implements AsyncDisposable {
  readonly directory: string
  readonly binary: string

  private constructor(directory: string) {
    this.directory = directory
    this.binary = join(directory, 'svc-agent')
  }

  static async create(): Promise<Place> {
    const place = new Place(await mkdtemp(join(tmpdir(), 'install-')))
    await writeFile(place.binary, OLD, { mode: 0o755 })
    return place
  }

  install(files: UpdateFiles, askVersion = () => Promise.resolve('0.1.1')): Promise<void> {
    return installRelease(RELEASE, {
      binary: this.binary,
      oldVersion: '0.1.0',
      oldOutcome: 'network',
      at: new Date('2026-11-21T12:00:00Z'),
      files,
      askVersion,
      refusal: (answer) => new Error(`it says ${answer}`),
    })
  }

  async read(): Promise<Record<string, string>> {
    const names = (await readdir(this.directory)).sort()
    const texts = names.map(async (name) => [
      name,
      await readFile(join(this.directory, name), 'utf8'),
    ])
    return Object.fromEntries(await Promise.all(texts)) as Record<string, string>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true })
  }
}

/** Does so many operations, and then nothing ever again; a file that is being written is left half written. */
function dyingAfter(count: number): UpdateFiles {
  let left = count
  return wrapped(async (operation, path) => {
    if (left > 0) {
      left -= 1
      await operation()
      return
    }
    if (left === 0 && path.endsWith('.new')) await writeFile(path, 'the n').catch(() => undefined)
    left = -1
    throw new Stopped()
  })
}

function failingAt(index: number): UpdateFiles {
  let count = 0
  return wrapped(async (operation) => {
    count += 1
    if (count - 1 === index) throw Object.assign(new Error('disk full'), { code: 'ENOSPC' })
    await operation()
  })
}

function wrapped(
  around: (operation: () => Promise<void>, path: string) => Promise<void>,
): UpdateFiles {
  const files = nodeUpdateFiles
  return {
    writeNewFile: (path, content, mode) =>
      around(() => files.writeNewFile(path, content, mode), path),
    link: (from, to) => around(() => files.link(from, to), to),
    rename: (from, to) => around(() => files.rename(from, to), to),
    removeIfPresent: (path) => around(() => files.removeIfPresent(path), ''),
    syncDirectory: (path) => around(() => files.syncDirectory(path), ''),
  }
}
