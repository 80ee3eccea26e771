// A hub in this process, on real ports and with the real client of its CA, whose deadline a test may shorten.

import { NO_ISSUERS } from '../fakes/issuer-keys.ts'
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStepCaClient } from '../../src/hub/ca/step-ca-client.ts'
import { parseProvisionerKey } from '../../src/hub/ca/provisioner-key.ts'
import type { HttpPort } from '../../src/hub/http/http-port.ts'
import { DEFAULT_HUB_LIMITS } from '../../src/protocol/hub-limits.ts'
import { composeServices } from '../../src/hub/compose-services.ts'
import { openVaultStore } from '../../src/hub/open-store.ts'
import { createPorts } from '../../src/hub/ports.ts'
import { createAdminOperations } from '../../src/hub/service/admin/admin-operations.ts'
import type { Store } from '../../src/hub/store/store.ts'
import { initVault } from '../../src/hub/vault/vault.ts'
import { parseCertificatesPem } from '../../src/pki/certificates.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { createLogging } from '../../src/platform/logger.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import type { FakeCa } from '../fakes/ca-server.ts'
import { prepareStore, shareAsSet } from '../support/test-store.ts'

export interface InProcessHub extends AsyncDisposable {
  readonly store: Store
  readonly admin: AdminOperations
  readonly rootPem: string
  readonly enrollPort: number
  readonly mtlsPort: number
}

export const IN_PROCESS_HUB_NAMES = ['hub.test', 'localhost'] as const

export async function startInProcessHub(
  ca: FakeCa,
  { clock, caDeadlineMs }: { readonly clock: Clock; readonly caDeadlineMs: number },
): Promise<InProcessHub> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'in-process-hub-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const vault = await initVault(join(directory, 'vault'), new Secret('a passphrase'))
  const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
  const database = await shareAsSet(vault, await prepareStore())
  const store = await openVaultStore(vault, { clock, database })
  stack.defer(() => store.close())
  const config = {
    serverNames: [...IN_PROCESS_HUB_NAMES],
    identityMatch: 'identity',
    recoveryGraceMs: 0,
    limits: DEFAULT_HUB_LIMITS,
    isTrustedProxy: () => false,
    enrollTlsBind: undefined,
    contentBytesMax: 1024 * 1024,
    consoleUrl: undefined,
    renewalThresholdMs: 21_600_000,
    vaultRoot: vault.root,
  } as const
  const hub = await composeServices(
    {
      config,
      store,
      issuerKeys: NO_ISSUERS,
      vaultId: vault.vaultId,
      clock,
      logging,
      random: Math.random,
      readFileRoots: async () => parseCertificatesPem(ca.rootPem),
      connectToCa: (rootPem) =>
        stack.use(
          createStepCaClient({
            caUrl: new URL(ca.url),
            rootPem,
            provisionerKid: ca.provisionerKid,
            provisionerKey: parseProvisionerKey(ca.provisionerKey),
            clock,
            logger: logging.forModule('hub.ca'),
            deadlineMs: caDeadlineMs,
          }),
        ),
      receivers: {
        openConnection: () => assert.fail('no webhooks here'),
        openSyslog: () => assert.fail('no webhooks here'),
        openMail: () => assert.fail('no webhooks here'),
      },
      findEventRoom: async () => 'enough',
      openDoors: (services, certificate) =>
        createPorts({ config, clock, logging }, services, certificate),
    },
    new AbortController().signal,
  )
  const { doors: ports } = hub
  stack.defer(async () => {
    await Promise.all([ports.enroll.close(0), ports.mtls.close(0)])
  })
  const listen = async (port: HttpPort): Promise<number> =>
    (await port.listen({ host: '127.0.0.1', port: 0 })).port
  const enrollPort = await listen(ports.enroll)
  const mtlsPort = await listen(ports.mtls)
  const kept = stack.move()
  return {
    store,
    admin: createAdminOperations(
      {
        ...hub.operations,
        addresses: {
          enrollUrl: `http://localhost:${enrollPort}`,
          mtlsUrl: `https://localhost:${mtlsPort}`,
        },
      },
      'admin',
      'admin',
    ),
    rootPem: ca.rootPem,
    enrollPort,
    mtlsPort,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
