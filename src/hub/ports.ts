// The public ports in front of what agents ask for.

import type { Clock } from '../platform/clock.ts'
import type { Logging } from '../platform/logger.ts'
import { readVersion } from '../platform/version.ts'
import type { AgentServices } from './agent-services.ts'
import type { HubConfig } from './config.ts'
import { createCallerBuckets } from './http/connections/caller-buckets.ts'
import { createEnrollServer } from './http/enroll-server.ts'
import { createEnrollTlsServer, type EnrollTlsServer } from './http/enroll-tls-server.ts'
import { createHealthServer } from './http/health-server.ts'
import type { HttpPort } from './http/http-port.ts'
import { createMtlsServer, type MtlsServer } from './http/mtls-server.ts'
import type { HubMeters } from './metrics/hub-meters.ts'
import type { ServerCertificate } from './service/upkeep/server-certificate.ts'

/** Refusals and failures are counted where metrics are on. */
export interface PortMeters extends Pick<HubMeters, 'onAnswer'> {
  readonly onRefusal: HubMeters['onRefusal'] | undefined
  readonly onHandshakeFailure: HubMeters['onHandshakeFailure'] | undefined
}

export interface PortsDependencies {
  readonly config: Pick<HubConfig, 'limits' | 'isTrustedProxy' | 'enrollTlsBind'>
  readonly clock: Clock
  readonly logging: Logging
  /** Who counts what the ports do. */
  readonly meters?: PortMeters | undefined
  /** Where several hubs share a vault: before each request of an agent. */
  readonly catchUp?: (() => Promise<void>) | undefined
}

export interface Ports {
  readonly health: HttpPort
  readonly enroll: HttpPort
  /** Undefined when it is off. */
  readonly enrollTls: EnrollTlsServer | undefined
  readonly mtls: MtlsServer
}

export function createPorts(
  { config, clock, logging, meters, catchUp }: PortsDependencies,
  services: AgentServices,
  certificate: ServerCertificate,
): Ports {
  const { limits, isTrustedProxy } = config
  const { onAnswer, onRefusal, onHandshakeFailure } = meters ?? {}
  const failures = createCallerBuckets(limits.enrollFailuresPerMinute, clock)
  const enrolling = { ...services, limits, isTrustedProxy, onAnswer, onRefusal, failures, catchUp }
  const shared = { ...services, clock, limits, isTrustedProxy, onAnswer, onRefusal }
  return {
    health: createHealthServer({
      ...shared,
      log: logging.forModule('hub.health'),
      version: readVersion(),
    }),
    enroll: createEnrollServer({ ...enrolling, log: logging.forModule('hub.enroll') }),
    enrollTls:
      config.enrollTlsBind &&
      createEnrollTlsServer({
        ...enrolling,
        log: logging.forModule('hub.enroll'),
        onHandshakeFailure,
        certificate,
      }),
    mtls: createMtlsServer({
      ...shared,
      catchUp,
      log: logging.forModule('hub.mtls'),
      onHandshakeFailure,
      certificate,
    }),
  }
}
