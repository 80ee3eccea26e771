import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeAuthority } from '../../../../test/fakes/fake-authority.ts'
import type { SignRequest } from '../../ca/certificate-authority.ts'
import { countSignings } from './count-signings.ts'

const REQUEST = {} as SignRequest

test('[RES-15] company is expected while the CA signs for somebody, whatever becomes of it', async () => {
  const fake = createFakeAuthority({ now: () => new Date() })
  const { authority, company } = countSignings(fake)
  assert.equal(company.isExpected(), false)
  const release = fake.hold()
  const signings = [authority.sign(REQUEST), authority.sign(REQUEST)]
  assert.equal(company.isExpected(), true)
  fake.failWith(new Error('away'))
  release()
  await Promise.allSettled(signings)
  assert.equal(company.isExpected(), false)
  assert.equal(authority.rootPem, fake.rootPem)
})
