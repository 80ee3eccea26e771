import assert from 'node:assert/strict'
import {
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { withFailingDisk } from '../../../test/support/failing-disk.ts'
import { systemClock } from '../../platform/clock.ts'
import { UserError } from '../../platform/errors.ts'
import { ensureAgeKey, ensureRecipient, readAgeKey } from './age-key.ts'

async function temporaryDirectory(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'age-key-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

describe('identity/age.key', () => {
  test('[SLD-1] is made as age-keygen makes it, for nobody else to read, and only once', async () => {
    await using directory = await temporaryDirectory()
    const path = join(directory.path, 'age.key')
    const made = await ensureAgeKey(path, systemClock)
    const text = await readFile(path, 'utf8')
    const [created, publicKey, identity, end, ...rest] = text.split('\n')
    assert.match(created ?? '', /^# created: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.equal(publicKey, `# public key: ${made.recipient}`)
    assert.match(identity ?? '', /^AGE-SECRET-KEY-PQ-1[0-9A-Z]+$/)
    assert.deepEqual([end, rest], ['', []])
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.equal((await ensureAgeKey(path, systemClock)).recipient, made.recipient)
    assert.equal(await readFile(path, 'utf8'), text)
    assert.deepEqual(await readdir(directory.path), ['age.key'])
  })

  test('[SLD-4] says its recipient by its comment, and is made when it is not there', async () => {
    await using directory = await temporaryDirectory()
    const path = join(directory.path, 'age.key')
    const recipient = await ensureRecipient(path, systemClock)
    assert.equal((await readAgeKey(path))?.recipient, recipient)
    assert.equal(await ensureRecipient(path, systemClock), recipient)
  })

  test('[SLD-4] without that comment, or with two of them, has the recipient of its identity', async () => {
    await using directory = await temporaryDirectory()
    const path = join(directory.path, 'age.key')
    const { recipient } = await ensureAgeKey(path, systemClock)
    const [, , identity = ''] = (await readFile(path, 'utf8')).split('\n')
    const other = `# public key: ${(await ensureAgeKey(join(directory.path, 'other'), systemClock)).recipient}\n`
    for (const comments of ['', '# public key: age1pq1qq\n', other.repeat(2)]) {
      await writeFile(path, `${comments}${identity}\n`)
      assert.equal(await ensureRecipient(path, systemClock), recipient, comments)
    }
  })

  test('[SLD-2] whose comment names the recipient of another key is refused where the key is used', async () => {
    await using directory = await temporaryDirectory()
    const path = join(directory.path, 'age.key')
    const { recipient } = await ensureAgeKey(path, systemClock)
    const other = await ensureAgeKey(join(directory.path, 'other.key'), systemClock)
    const text = (await readFile(path, 'utf8')).replace(recipient, other.recipient)
    await writeFile(path, text)
    assert.equal(await ensureRecipient(path, systemClock), other.recipient)
    await assert.rejects(readAgeKey(path), (error) => {
      assert.ok(error instanceof UserError)
      assert.equal(error.message, `${path} names a public key that does not belong to its identity`)
      return true
    })
    assert.equal(await readFile(path, 'utf8'), text)
  })

  test('[SLD-2] that is a link to nothing is named, and left alone', async () => {
    await using directory = await temporaryDirectory()
    const path = join(directory.path, 'age.key')
    await symlink(join(directory.path, 'away', 'age.key'), path)
    await assert.rejects(ensureAgeKey(path, systemClock), { code: 'age_key_damaged' })
    assert.deepEqual(await readdir(directory.path), ['age.key'])
    assert.equal(await readlink(path), join(directory.path, 'away', 'age.key'))
  })

  for (const [what, text] of [
    ['empty', ''],
    ['cut short', '# created: 2026-01-01T00:00:00Z\nAGE-SECRET-KEY-PQ-1QQ'],
    ['of the classic kind', `AGE-SECRET-KEY-1${'Q'.repeat(58)}\n`],
    ['anything else', 'secret stuff\n'],
  ] as const) {
    test(`[SLD-2] that is ${what} is named, not quoted, and left alone`, async () => {
      await using directory = await temporaryDirectory()
      const path = join(directory.path, 'age.key')
      await writeFile(path, text)
      await assert.rejects(ensureRecipient(path, systemClock), { code: 'age_key_damaged' })
      await assert.rejects(ensureAgeKey(path, systemClock), (error) => {
        assert.ok(error instanceof UserError)
        assert.equal(error.message, `${path} does not hold a post-quantum age identity`)
        return true
      })
      assert.equal(await readFile(path, 'utf8'), text)
    })
  }

  test('[SLD-1] killed or out of room before any change: there is none or a whole one, and the next try makes one', async () => {
    for (let n = 1, isWhole = false; !isWhole; n += 1) {
      await using directory = await temporaryDirectory()
      const path = join(directory.path, 'age.key')
      const changes = await withFailingDisk(
        (change) => change >= n,
        () => ensureAgeKey(path, systemClock).catch(() => undefined),
      )
      isWhole = changes < n
      const found = await readAgeKey(path)
      const { recipient } = await ensureAgeKey(path, systemClock)
      if (found !== undefined) assert.equal(recipient, found.recipient)
      assert.deepEqual(await readdir(directory.path), ['age.key'])
    }
  })
})
