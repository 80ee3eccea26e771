// The PKCS#12 files of targets as Java reads them.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { renderContent } from '../../src/agent/targets/render-content.ts'
import type { KeyType } from '../../src/pki/keys.ts'
import { createPairMaterial } from '../support/pair-material.ts'
import { pathOfTool, TOOL_PATH, withTools } from '../support/tools.ts'

const PASSWORD = 'a pass~word 1'

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'java-key-store-'))
})
after(() => rm(directory, { recursive: true }))

describe('PKCS#12', withTools('keytool', 'openssl'), () => {
  const types: KeyType[] = ['ec-p256', 'ec-p384', 'rsa-2048', 'ed25519']
  for (const type of types) {
    test(`[TGT-11] with a key of type ${type} is read by Java`, async () => {
      const material = await createPairMaterial(type)
      const path = join(directory, `${type}.p12`)
      const what = { format: 'pkcs12', passwordFile: '/unused' } as const
      await writeFile(path, await renderContent(what, material, PASSWORD), { mode: 0o600 })
      const read = readAfterImport(path)
      for (const pem of [material.leafPem, ...material.chainPems, material.keyPem]) {
        assert.ok(read.includes(pem), read)
      }
    })
  }
})

/** Importing decrypts the key, which listing does not; openssl looks at what Java made of it. */
function readAfterImport(path: string): string {
  const copy = `${path}.copy`
  const args = ['-importkeystore', '-noprompt', '-srckeystore', path, '-destkeystore', copy]
  const passwords = ['-srcstorepass:env', 'PASS', '-deststorepass:env', 'PASS']
  const env = { PATH: TOOL_PATH, PASS: PASSWORD }
  const made = spawnSync(pathOfTool('keytool'), [...args, ...passwords], { env, encoding: 'utf8' })
  assert.equal(made.status, 0, made.stdout)
  const options = ['pkcs12', '-in', copy, '-passin', 'env:PASS', '-nodes']
  return spawnSync(pathOfTool('openssl'), options, { env, encoding: 'utf8' }).stdout
}
