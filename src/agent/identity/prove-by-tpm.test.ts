// What a host shows of its TPM to be challenged: docs/protocol.md JNR-46.

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { makeAk, makeTpm } from '../../../test/fakes/software-tpm.ts'
import { createTpmMaker } from '../../../test/fakes/tpm-maker.ts'
import { UserError } from '../../platform/errors.ts'
import type { TpmChallengeRequestBody } from '../../protocol/schemas.ts'
import type { TpmTools } from '../tpm/tpm-tools.ts'
import { proveByTpm } from './prove-by-tpm.ts'

const [tpm, other, ak] = [makeTpm(), makeTpm(), makeAk()]
const refused = { ok: false, status: 401, code: 'token_not_found' } as const
let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'prove-by-tpm-'))
})
after(() => rm(directory, { recursive: true, force: true }))

/** What it asked of a hub that refuses it; `certificate` is what its TPM has in the maker's place. */
async function askWith(certificate: Buffer | undefined): Promise<TpmChallengeRequestBody> {
  const files = { tpm2_createek: 'ek.der', tpm2_createak: 'ak.pub', tpm2_nvread: 'ek.crt' }
  const contents = { 'ek.der': tpm.ek.spki, 'ak.pub': ak.public, 'ek.crt': certificate }
  const tools: TpmTools = {
    directory,
    run: async (tool) => {
      const name = files[tool as keyof typeof files] as keyof typeof contents
      const content = contents[name]
      if (content === undefined) throw new UserError('tpm_failed', 'nothing there')
      await writeFile(join(directory, name), content)
    },
  }
  const asked: TpmChallengeRequestBody[] = []
  const outcome = await proveByTpm(tools, {
    hostname: 'r1.example.org',
    role: 'rack',
    csrDer: Buffer.alloc(1),
    challengeTpm: async (body) => {
      asked.push(body)
      return refused
    },
  })
  assert.equal(outcome, refused)
  const [body] = asked
  assert.deepEqual(
    [body?.hostname, body?.role, body?.ak],
    ['r1.example.org', 'rack', ak.public.toString('base64')],
  )
  return body ?? assert.fail('nothing was asked')
}

describe('[JNR-46] a host that asks for a challenge', () => {
  const certify = async (of = tpm): Promise<Buffer> =>
    Buffer.from(await (await createTpmMaker()).certify(of.ek.spki), 'base64')
  const own = tpm.ek.spki.toString('base64')

  test('shows the certificate of its maker, without what fills the place behind it', async () => {
    const certificate = await certify()
    for (const filling of [Buffer.alloc(0), Buffer.alloc(300), Buffer.alloc(300, 0xff)]) {
      const { ek, ek_cert } = await askWith(Buffer.concat([certificate, filling]))
      assert.deepEqual([ek, ek_cert], [undefined, certificate.toString('base64')])
    }
  })

  const useless: [what: string, certificate: () => Promise<Buffer | undefined>][] = [
    ['no certificate', async () => undefined],
    ['a certificate of another EK', () => certify(other)],
    [
      'a certificate of 5 KiB',
      async () => {
        const maker = await createTpmMaker()
        return Buffer.from(await maker.certify(tpm.ek.spki, { model: 'x'.repeat(5000) }), 'base64')
      },
    ],
    ['something that is none', async () => Buffer.from('not a certificate')],
  ]
  for (const [what, certificate] of useless) {
    test(`shows its EK alone when its TPM has ${what}`, async () => {
      const { ek, ek_cert } = await askWith(await certificate())
      assert.deepEqual([ek, ek_cert], [own, undefined])
    })
  }
})
