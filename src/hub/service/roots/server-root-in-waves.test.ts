// The hub's own certificate while a set of roots goes out in waves, and the CA signs by its new root already.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createFakeCa } from '../../../../test/fakes/hub-certificates.ts'
import { VirtualTime } from '../../../../test/simulation/virtual-time.ts'
import { collectLog } from '../../../../test/support/collected-log.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { parseCertificatesPem } from '../../../pki/certificates.ts'
import type { CertificateRequest } from '../../../pki/csr.ts'
import { findRootOf } from '../../../pki/issued-certificate.ts'
import { encodePem } from '../../../pki/pem.ts'
import { parseRules } from '../rollout/rollout-rules.ts'
import {
  keepServerCertificateFresh,
  obtainServerCertificate,
  renewServerCertificate,
} from '../upkeep/server-certificate.ts'
import { findOpenRoots, findRootsHeldTo, followInWaves } from './roots-in-waves.ts'

const MINUTE_MS = 60_000
const LIFE_MS = 60 * MINUTE_MS

/** Set 1 has the root of the one CA, set 2 that of the other too, and is on its way in waves. */
async function openScene() {
  const store = await openTemporaryStore()
  const vaultRoot = await mkdtemp(join(tmpdir(), 'vault-'))
  const stop = new AbortController()
  const start = new Date()
  const time = new VirtualTime(start)
  const [before, next] = await Promise.all([createFakeCa(), createFakeCa()])
  const rootPem = before.rootPem + next.rootPem
  const rules = parseRules({
    waves: ['1', '100%'],
    soak_seconds: 0,
    max_failed: '0',
    late_seconds: 60,
  })
  await store.write(async (writer) => {
    await writer.insertRootSet({ epoch: 1, number: 1, pem: before.rootPem, createdAt: start })
    await writer.insertRootSet({ epoch: 1, number: 2, pem: rootPem, createdAt: start })
    const waves = { rules, startedBy: 'admin', hosts: 2, before: { epoch: 1, number: 1 } } as const
    await followInWaves(writer, start, { epoch: 1, number: 2 }, waves)
  })
  const { log, lines } = collectLog()
  let signs = before
  const authority = {
    rootPem,
    sign: async ({ csr, commonName }: { csr: CertificateRequest; commonName: string }) => {
      const now = time.now()
      const validity = { notBefore: now, notAfter: new Date(now.getTime() + LIFE_MS) }
      const csrPem = encodePem(csr.der, 'CERTIFICATE REQUEST')
      const chainPem = await signs.sign(csrPem, { commonName, ...validity })
      const [leaf, ...intermediates] = parseCertificatesPem(chainPem)
      assert.ok(leaf)
      return { leaf, intermediates, chainPem }
    },
    revoke: async () => ({ kind: 'revoked' }) as const,
  }
  const rootsHeldTo = () => findRootsHeldTo(store.reader)
  const tls = { authority, clock: time, log, vaultRoot, names: ['hub.test'], rootsHeldTo }
  const leadsToOld = (chainPem: string): boolean =>
    findRootOf(parseCertificatesPem(chainPem), parseCertificatesPem(before.rootPem)) !== undefined
  const obtain = () => obtainServerCertificate(tls, stop.signal, async () => undefined)
  let { certificate } = await obtain()
  return {
    tls,
    lines,
    obtain,
    pass: (ms: number) => time.runUntil(new Date(time.now().getTime() + ms)),
    signByNext: () => {
      signs = next
    },
    keepFresh: () =>
      time.start(() =>
        keepServerCertificateFresh(
          tls,
          () => certificate,
          (renewed) => {
            certificate = renewed
          },
          stop.signal,
        ),
      ),
    leadsToOld: (chainPem = certificate.chainPem) => leadsToOld(chainPem),
    isOldOnDisk: async () => leadsToOld(await readFile(join(vaultRoot, 'server.crt'), 'utf8')),
    endRollout: () =>
      store.write(async (writer) => {
        const open = (await findOpenRoots(writer)) ?? assert.fail('none is open')
        await writer.rollouts.update({ ...open, state: 'done', endedAt: time.now() })
      }),
    [Symbol.asyncDispose]: async () => {
      stop.abort(new Error('the test is over'))
      await time.runUntil(time.now()).catch(() => undefined)
      await store[Symbol.asyncDispose]()
      await rm(vaultRoot, { recursive: true })
    },
  }
}

test('[RLO-33] stays under a root that all agents were offered, until the rollout is done', async () => {
  await using scene = await openScene()
  scene.keepFresh()
  scene.signByNext()
  await scene.pass(50 * MINUTE_MS)
  assert.equal(scene.leadsToOld(), true)
  assert.equal(await scene.isOldOnDisk(), true)
  const warnings = scene.lines.filter(({ level }) => level === 'warn')
  // Each is a certificate of the CA, and an entry of the log.
  assert.ok(warnings.length >= 2 && warnings.length <= 4, `it tries again: ${warnings.length}`)
  assert.deepEqual(warnings[0], {
    level: 'warn',
    message: 'Server certificate not renewed',
    fields: {
      reason:
        'it leads to a root that agents have not been offered: let the CA sign by the one before until the rollout of roots is done',
    },
  })
  await scene.endRollout()
  await scene.pass(3 * MINUTE_MS)
  assert.equal(scene.leadsToOld(), false)
})

test('[RLO-33] stays so in a hub that starts', async () => {
  await using scene = await openScene()
  scene.signByNext()
  await scene.pass(45 * MINUTE_MS)
  const { certificate, isReused } = await scene.obtain()
  assert.equal(isReused, true)
  assert.equal(await scene.isOldOnDisk(), true)
  assert.ok(certificate.notAfter.getTime() > scene.tls.clock.now().getTime())
})

test('[RLO-33] leads where the CA leads once it has expired, or when an operator takes the root away', async () => {
  await using scene = await openScene()
  scene.signByNext()
  assert.equal(scene.leadsToOld((await renewServerCertificate(scene.tls)).chainPem), false)
  scene.keepFresh()
  await scene.pass(LIFE_MS - MINUTE_MS)
  assert.equal(scene.leadsToOld(), true)
  await scene.pass(MINUTE_MS)
  assert.equal(scene.leadsToOld(), false, 'at once')
})
