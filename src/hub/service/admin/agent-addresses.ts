import type { AdminContext } from './admin-context.ts'

interface ListeningPorts {
  readonly enroll: { readonly port: number }
  readonly mtls: { readonly port: number }
}

/** Where agents reach this hub, as far as the hub can know: its own name and its ports. */
export function agentAddresses(
  serverNames: readonly string[],
  { enroll, mtls }: ListeningPorts,
): AdminContext['addresses'] {
  const name = serverNames[0] ?? 'localhost'
  return { enrollUrl: `https://${name}:${enroll.port}`, mtlsUrl: `https://${name}:${mtls.port}` }
}
