// Where a hub is found, by its names and its settings.

import { coversName } from '../../domain/subject-alt-name.ts'

/** Where agents reach a hub, as far as the hub can know. docs/protocol.md CLI-70. */
export interface AgentAddresses {
  readonly enrollUrl: string
  readonly mtlsUrl: string
  /** Whether the hub itself serves the URL over TLS, with its own certificate: then hosts can trust it by the root alone. */
  readonly isOwnTls?: boolean
  /** What is to be set before hosts can use the URL. */
  readonly note?: string | undefined
}

export interface HubNames {
  readonly serverNames: readonly string[]
  /** Not when the hub has the name of every hub that nobody named. */
  readonly isNamed: boolean
  /** Where somebody said that hosts enrol. */
  readonly publicUrl: URL | undefined
}

interface Listening {
  readonly port: number
}

interface ListeningPorts {
  readonly enroll: Listening
  /** Undefined when it is off. */
  readonly enrollTls: Listening | undefined
  readonly mtls: Listening
}

export function agentAddresses(
  { serverNames, isNamed, publicUrl }: HubNames,
  { enroll, enrollTls, mtls }: ListeningPorts,
): AgentAddresses {
  const name = serverNames[0] ?? 'localhost'
  const mtlsUrl = `https://${name}:${mtls.port}`
  if (publicUrl !== undefined) {
    const host = publicUrl.hostname.replace(/^\[|\]$/g, '')
    const isOwnName = serverNames.some((own) => coversName(own, host))
    const enrollUrl = publicUrl.href.replace(/\/$/, '')
    return { enrollUrl, mtlsUrl, isOwnTls: enrollTls !== undefined && isOwnName }
  }
  const enrollUrl = `https://${name}:${(enrollTls ?? enroll).port}`
  const note = findNote(name, isNamed, enrollTls !== undefined)
  return { enrollUrl, mtlsUrl, isOwnTls: enrollTls !== undefined, note }
}

/** Undefined without an admin port. */
export function consoleUrlOf(
  { serverNames: [name = 'localhost'] }: Pick<HubNames, 'serverNames'>,
  admin: Listening | undefined,
): string | undefined {
  return admin && `https://${name}:${admin.port}`
}

function findNote(name: string, isNamed: boolean, hasTls: boolean): string | undefined {
  if (!hasTls) {
    return 'SVC_ENROLL_TLS_BIND is off: set SVC_PUBLIC_URL of the hub to the https URL of the proxy before its enroll port'
  }
  return isNamed
    ? undefined
    : `no host finds the hub as ${name}: set SVC_SERVER_CN of the hub to its name, or SVC_PUBLIC_URL to an https URL that leads to its port`
}
