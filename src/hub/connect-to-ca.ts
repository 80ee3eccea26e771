import type { Clock } from '../platform/clock.ts'
import type { Logger, Logging } from '../platform/logger.ts'
import { type AcmeAuthority, createAcmeClient } from './ca/acme/acme-client.ts'
import { createHook } from './ca/acme/acme-hook.ts'
import type { AuthorityClient } from './ca/certificate-authority.ts'
import { createOpenBaoClient, type OpenBaoPki } from './ca/openbao/openbao-client.ts'
import { createStepCaClient } from './ca/step-ca-client.ts'
import { splitAuthority } from './ca/split-authority.ts'
import type { AcmeConfig, OpenBaoConfig } from './ca-settings.ts'
import type { HubConfig } from './config.ts'
import { readTlsRoots } from './root-file.ts'

export interface CaSurroundings {
  readonly clock: Clock
  readonly logging: Logging
  /** That run now; undefined for a hub that is alone. */
  readonly countHubs: (() => number) | undefined
}

/** Makes the client of the CA, once its roots are known. */
export type ConnectToCa = (rootPem: string) => AuthorityClient

/** Reads the files that it takes. */
export async function prepareCa(
  config: Pick<HubConfig, 'ca' | 'caUrl' | 'acme'>,
  surroundings: CaSurroundings,
): Promise<ConnectToCa> {
  const connect = await prepareIdentities(config, surroundings)
  if (config.acme === undefined) return connect
  const { clock, logging } = surroundings
  const acme = await acmeAuthority(config.acme)
  const logger = logging.forModule('hub.acme')
  const runHook = createHook(config.acme.hookPath, logger)
  return (rootPem) =>
    splitAuthority(connect(rootPem), createAcmeClient({ ...acme, runHook, rootPem, clock, logger }))
}

async function prepareIdentities(
  { ca, caUrl }: Pick<HubConfig, 'ca' | 'caUrl'>,
  { clock, logging, countHubs }: CaSurroundings,
): Promise<ConnectToCa> {
  const log = logging.forModule('hub.ca')
  const surroundings = { clock, logger: log, countHubs }
  if (ca.kind === 'step') {
    return (rootPem) => createStepCaClient({ ...ca, caUrl, rootPem, ...surroundings })
  }
  const pki = await openBaoPki(ca, caUrl)
  return (rootPem) => createOpenBaoClient({ ...pki, rootPem, ...surroundings })
}

export async function openBaoPki(ca: OpenBaoConfig, caUrl: URL): Promise<OpenBaoPki> {
  const { mount, role, namespace, login, tlsRootPath } = ca
  return { caUrl, mount, role, namespace, login, tlsRootPem: await readTlsRootPem(tlsRootPath) }
}

export async function acmeAuthority(acme: AcmeConfig): Promise<AcmeAuthority> {
  const { directoryUrl, accountKey, externalAccount, challengeType, tlsRootPath } = acme
  const tlsRootPem = await readTlsRootPem(tlsRootPath)
  return { directoryUrl, accountKey, externalAccount, challengeType, tlsRootPem }
}

async function readTlsRootPem(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  return (await readTlsRoots(path)).map(({ pem }) => pem).join('')
}

/** A step-ca would answer 401; with a certificate on disk it may be a day until it is asked. */
export function warnOfOtherKid({ ca }: Pick<HubConfig, 'ca'>, log: Logger): void {
  if (ca.kind !== 'step') return
  const { kid } = ca.provisionerKey.reveal()
  if (kid === undefined || kid === ca.provisionerKid) return
  const fields = { kid: ca.provisionerKid, kid_of_key: kid }
  log.warn(fields, 'SVC_CA_PROVISIONER_KID is not the one that SVC_CA_PROVISIONER_KEY names')
}
