import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Clock } from '../../platform/clock.ts'
import { KnownFiles } from './known-files.ts'

/** Two files of which one holds a text, and a clock by which they were changed long ago. */
async function startFixture(ageMs = 60_000) {
  const directory = await mkdtemp(join(tmpdir(), 'known-files-'))
  const [path, other] = [join(directory, 'one'), join(directory, 'other')]
  await writeFile(path, 'first')
  await writeFile(other, 'other')
  const clock: Clock = {
    now: () => new Date(Date.now() + ageMs),
    sleep: () => Promise.reject(new Error('not needed')),
  }
  const known = new KnownFiles<string>(clock)
  let reads = 0
  const read = () =>
    known.read('key', [path, other], async () => {
      reads += 1
      return readFile(path, 'utf8').catch(() => undefined)
    })
  return {
    known,
    path,
    other,
    read,
    takeReads: () => [reads, (reads = 0)][0],
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  }
}

describe('what was read from files', () => {
  test('is not read again while they stay as they were', async () => {
    await using fixture = await startFixture()
    for (let time = 0; time < 3; time += 1) assert.equal(await fixture.read(), 'first')
    assert.equal(fixture.takeReads(), 1)
  })

  for (const [what, change, expected] of [
    ['is written anew', (path: string) => writeFile(path, 'again'), 'again'],
    ['has other rights', (path: string) => chmod(path, 0o640), 'first'],
    ['is gone', (path: string) => rm(path), undefined],
    [
      'gives way to another with the same times and size',
      async (path: string) => {
        const at = new Date(0)
        await utimes(path, at, at)
        await writeFile(`${path}.new`, 'other')
        await utimes(`${path}.new`, at, at)
        await rename(`${path}.new`, path)
      },
      'other',
    ],
  ] as const) {
    test(`is read again once one of them ${what}`, async () => {
      await using fixture = await startFixture()
      await fixture.read()
      await change(fixture.path)
      fixture.takeReads()
      assert.equal(await fixture.read(), expected)
      assert.equal(fixture.takeReads(), 1)
    })
  }

  test('is read again once the one that was not read for it changes', async () => {
    await using fixture = await startFixture()
    await fixture.read()
    await rm(fixture.other)
    await fixture.read()
    assert.equal(fixture.takeReads(), 2)
  })

  test('is read again as long as they were changed just now: the next change might not show', async () => {
    await using fixture = await startFixture(0)
    await fixture.read()
    await fixture.read()
    assert.equal(fixture.takeReads(), 2)
  })

  test('is read again when it gave nothing, or is not wanted any more', async () => {
    await using fixture = await startFixture()
    await rm(fixture.path)
    await fixture.read()
    await writeFile(fixture.path, 'back')
    assert.equal(await fixture.read(), 'back')
    fixture.known.keepOnly(() => true)
    await fixture.read()
    assert.equal(fixture.takeReads(), 2)
    fixture.known.keepOnly(() => false)
    await fixture.read()
    assert.equal(fixture.takeReads(), 1)
  })
})
