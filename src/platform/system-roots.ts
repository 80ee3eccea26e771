import { getCACertificates, rootCertificates } from 'node:tls'

/** PEM; those that Node brings where the system has none. To read them takes a twentieth of a hub's start. */
export function systemRoots(): readonly string[] {
  const system = getCACertificates('system')
  return system.length > 0 ? system : rootCertificates
}
