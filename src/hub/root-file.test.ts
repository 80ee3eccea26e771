import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createFakeCa } from '../../test/fakes/hub-certificates.ts'
import { readWebhookRoots } from './root-file.ts'

describe('[WHK-14] the roots of receivers', () => {
  let directory: string
  let path: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'roots-'))
    path = join(directory, 'roots.pem')
  })
  after(() => rm(directory, { recursive: true }))

  test('are the system’s, and those of the file', async () => {
    const [one, other] = [await createFakeCa(), await createFakeCa()]
    await writeFile(path, `# ours\n${one.rootPem}${other.rootPem}`)
    const system = (await readWebhookRoots(undefined))()
    assert.ok(system.length > 0)
    const roots = (await readWebhookRoots(path))().map((pem) => pem.trim())
    assert.deepEqual(roots.slice(system.length), [one.rootPem.trim(), other.rootPem.trim()])
  })

  // TLS would take each for nothing at all, and say no word of it.
  for (const [what, text, why] of [
    ['has nothing of the kind', 'nothing', 'no PEM certificate in it'],
    ['is cut short', '-----BEGIN CERTIFICATE-----\nMIIB', 'no PEM certificate in it'],
    [
      'has what is none',
      '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
      'a certificate in it does not parse',
    ],
  ] as const) {
    test(`are not those of a file that ${what}`, async () => {
      await writeFile(path, text)
      await assert.rejects(readWebhookRoots(path), {
        code: 'webhook_ca_unreadable',
        message: `read the webhooks’ CA from ${path}: ${why}`,
      })
    })
  }
})
