// What is sealed, and what opens it: docs/protocol.md SEA-8.

import assert from 'node:assert/strict'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { generateAgeIdentity, recipientOf } from '../../sealing/age-identity.ts'
import { readContent, readEscrowIdentity } from './read-secret.ts'
import { openSecret, type SecretSource } from './secret-source.ts'

const nothing = Readable.from([])

async function withFile(
  content: string,
  work: (source: SecretSource, path: string) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'secret-'))
  const path = join(directory, 'secret')
  await writeFile(path, content)
  const source = await openSecret(path, nothing)
  try {
    await work(source, path)
  } finally {
    await source.close()
    await rm(directory, { recursive: true, force: true })
  }
}

describe('what is to be sealed', () => {
  test('[SEA-8] is the whole file, up to the limit', () =>
    withFile('12345678', async (source) => {
      assert.equal(source.size, 8)
      assert.equal(Buffer.from(await readContent(source, 8)).toString(), '12345678')
    }))

  test('[SEA-8] is refused unread when it is larger', () =>
    withFile('12345678', async (source, path) => {
      const unread = { ...source, read: () => assert.fail('it was read') }
      await assert.rejects(readContent(unread, 7), {
        message: `${path} has 8 bytes, and a sealed file holds 7 at most`,
      })
    }))

  test('[SEA-8] is refused when it has grown since it was opened', () =>
    withFile('1234', async (source, path) => {
      await appendFile(path, '5678')
      await assert.rejects(readContent(source, 7), /has more than 7 bytes/)
    }))

  test('[SEA-8] of standard input is read only as far as the limit', async () => {
    let chunks = 0
    const endless = Readable.from(
      (function* () {
        for (;;) {
          chunks += 1
          yield Buffer.alloc(1000)
        }
      })(),
      { highWaterMark: 1 },
    )
    const source = await openSecret('-', endless)
    await assert.rejects(readContent(source, 5000), {
      message: 'standard input has more than 5000 bytes, and a sealed file holds 5000 at most',
    })
    assert.ok(chunks < 12, `${chunks} chunks`)
  })

  test('is not nothing', () =>
    withFile('', async (source) => {
      await assert.rejects(readContent(source, 8), { code: 'file_empty' })
    }))

  test('that is not there, or a directory, is told', async () => {
    await assert.rejects(openSecret('/nonexistent', nothing), {
      name: 'UserError',
      message: 'cannot read /nonexistent: no such file or directory',
    })
    await assert.rejects(openSecret('/', nothing), { message: '/ is a directory' })
  })
})

describe('an escrow identity', () => {
  test('is read from a file as age-keygen writes it', async () => {
    const identity = await generateAgeIdentity()
    await withFile(`# created: today\n${identity}\n`, async (source) => {
      const recipient = await recipientOf(identity)
      assert.deepEqual(await readEscrowIdentity(source), { identity, recipient })
    })
  })

  const others = {
    'with a passphrase': 'age-encryption.org/v1\n-> scrypt',
    'with a wrong letter': `AGE-SECRET-KEY-PQ-1${'Q'.repeat(58)}`,
    'far too long': '#'.repeat(70_000),
  }
  for (const [what, text] of Object.entries(others)) {
    test(`${what} is refused, and none of it is shown`, () =>
      withFile(text, async (source, path) => {
        await assert.rejects(readEscrowIdentity(source), {
          code: 'identity_invalid',
          message: `${path} is not a post-quantum identity file of age`,
        })
      }))
  }
})
