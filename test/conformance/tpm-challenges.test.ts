// The route by which a host with a TPM asks for a challenge, as strangers may use it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeAk, makeTpm } from '../fakes/software-tpm.ts'
import { useHub } from '../support/use-hub.ts'
import { assertOk, assertRefused, post, type Target } from '../support/wire-client.ts'

const FAILURES = 12
let port: Target
const { hub } = useHub(
  async ({ ports: { enroll } }) => {
    port = { port: enroll }
  },
  { SVC_LIMIT_ENROLL_FAILURES: String(FAILURES) },
)

const known = makeTpm()
const ak = makeAk().public.toString('base64')
const bodyOf = (spki: Buffer): object => ({
  hostname: 'r1.example.org',
  role: 'rack',
  ek: spki.toString('base64'),
  ak,
})
const challenge = (body: object) => post(port, '/v1/join/tpm', body)

describe('[JNR-41] [SRF-2] the challenge of a TPM', () => {
  test('is for one that a rule trusts', async () => {
    await hub.admin('POST', '/v1/admin/join-rules', {
      name: 'racks',
      method: 'tpm',
      tpm: { keys: [{ ek_sha256: known.ek.sha256 }] },
      pattern: 'r*.example.org',
      role: 'rack',
      hosts_max: 3,
    })
    const reply = await challenge(bodyOf(known.ek.spki))
    assertOk(reply)
    const { credential, encrypted_seed, until } = reply.json
    assert.match(String(credential), /^[A-Za-z0-9+/]+=*$/)
    assert.match(String(encrypted_seed), /^[A-Za-z0-9+/]+=*$/)
    const seconds = Number(until) - Date.now() / 1000
    assert.ok(seconds > 240 && seconds <= 300, `${seconds}`)
  })

  test('[LIM-9] has fields of a bounded length, and one EK', async () => {
    const body = bodyOf(known.ek.spki)
    const tooLong = Buffer.alloc(4200).toString('base64')
    for (const wrong of [
      { ...body, ak: tooLong },
      { ...body, ek: tooLong },
      { ...body, ek_cert: tooLong },
      { ...body, ak: 'no base64!' },
      { ...body, hostname: 'x'.repeat(254) },
      { ...body, ak: undefined },
    ]) {
      assertRefused(await challenge(wrong), 400, 'request_invalid')
    }
    assertRefused(await challenge({ ...body, ek: undefined }), 401, 'token_not_found')
  })

  test('[LIM-11] is refused to unknown ones as often as a wrong token is, and given to known ones all the same', async () => {
    const unknown = bodyOf(makeTpm().ek.spki)
    let refused = 0
    for (; refused <= FAILURES; refused += 1) {
      const reply = await challenge(unknown)
      if (reply.status === 429) break
      assertRefused(reply, 401, 'token_not_found')
    }
    assert.ok(refused > 0 && refused < FAILURES, `${refused} besides what failed before`)
    assertRefused(await challenge(unknown), 429, 'rate_limited')
    const enrol = { token: 'svct_x', hostname: 'r1.example.org', role: 'rack', csr_pem: 'x' }
    assertRefused(await post(port, '/v1/enroll', enrol), 429, 'rate_limited')
    assertOk(await challenge(bodyOf(known.ek.spki)))
  })
})
