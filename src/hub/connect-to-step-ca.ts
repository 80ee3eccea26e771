import type { Clock } from '../platform/clock.ts'
import type { Logger, Logging } from '../platform/logger.ts'
import { createStepCaClient, type StepCaClient } from './ca/step-ca-client.ts'
import type { HubConfig } from './config.ts'

export interface CaSurroundings {
  readonly clock: Clock
  readonly logging: Logging
  /** That run now; undefined for a hub that is alone. */
  readonly countHubs: (() => number) | undefined
}

export function connectToStepCa(
  config: HubConfig,
  rootPem: string,
  { clock, logging, countHubs }: CaSurroundings,
): StepCaClient {
  return createStepCaClient({
    caUrl: config.caUrl,
    rootPem,
    provisionerKey: config.caProvisionerKey,
    provisionerKid: config.caProvisionerKid,
    provisionerName: config.caProvisionerName,
    clock,
    logger: logging.forModule('hub.ca'),
    countHubs,
  })
}

/** A CA would answer 401; with a certificate on disk it may be a day until it is asked. */
export function warnOfOtherKid(
  { caProvisionerKey, caProvisionerKid }: HubConfig,
  log: Logger,
): void {
  const { kid } = caProvisionerKey.reveal()
  if (kid === undefined || kid === caProvisionerKid) return
  const fields = { kid: caProvisionerKid, kid_of_key: kid }
  log.warn(fields, 'SVC_CA_PROVISIONER_KID is not the one that SVC_CA_PROVISIONER_KEY names')
}
