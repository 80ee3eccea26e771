import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createIssuer, createRootPem } from '../../dev-ca/issuer.ts'
import { parseCertificatesPem } from '../../pki/certificates.ts'
import { parseCsrPem } from '../../pki/csr.ts'
import { generateEcP256Key } from '../../pki/keys.ts'
import type { ArtefactName, CargoId, DeliveryId } from '../../protocol/identifiers.ts'
import type { Identity } from '../identity/identity.ts'
import type { ObtainContext, ObtainRequest } from './delivery-kind.ts'
import { pairKind } from './pair-kind.ts'

const HOUR_MS = 3_600_000
const SANS = ['web-1', 'shop.example', '*.shop.example']

test('[AGT-63] the CSR has the names of the manifest, and those of a renewal are the same', async () => {
  const outDir = await mkdtemp(join(tmpdir(), 'pair-kind-'))
  try {
    const validity = {
      notBefore: new Date(Date.now() - HOUR_MS),
      notAfter: new Date(Date.now() + HOUR_MS),
    }
    const rootKey = await generateEcP256Key()
    const rootPem = await createRootPem({ commonName: 'root', ...validity }, rootKey)
    const issuer = await createIssuer(rootPem, rootKey)
    const asked: unknown[] = []
    const context = {
      outDir,
      hub: {
        issueCertificate: async (csrPem: string) => {
          const csr = parseCsrPem(csrPem)
          assert.ok(csr)
          asked.push(csr.sans)
          const { publicKeySpki } = csr
          const leaf = { publicKeySpki, commonName: 'web-1', sans: SANS, ...validity }
          return {
            ok: true,
            value: { certificatePem: await issuer.issueLeaf(leaf), caPem: rootPem },
          }
        },
      },
      hubTime: { now: () => new Date() },
      newCertificates: { note: () => undefined },
      keyTypeOf: async () => 'ec-p256',
    } as unknown as ObtainContext
    const identity = {
      hostname: 'web-1',
      roots: parseCertificatesPem(rootPem),
    } as unknown as Identity
    const request: ObtainRequest = {
      deliveryId: 'd' as DeliveryId,
      cargoId: 'c' as CargoId,
      name: 'site' as ArtefactName,
      version: 1,
      mode: undefined,
      sans: SANS,
      renewal: null,
    }
    const renewal = { old_serial: '1', trigger: 'auto_threshold' } as const
    const obtain = async (changes: Partial<ObtainRequest>): Promise<void> => {
      assert.equal(await pairKind.obtain(context, identity, { ...request, ...changes }), undefined)
    }
    await obtain({})
    await obtain({ sans: undefined, renewal })
    await obtain({ sans: undefined, renewal })
    // Another version, of a hub whose CA takes them from the hub again.
    await obtain({ sans: undefined, version: 2 })
    await obtain({ sans: undefined, renewal })
    assert.deepEqual(asked, [SANS, SANS, SANS, [], []])
  } finally {
    await rm(outDir, { recursive: true })
  }
})
