import { AdminRefusal } from '../admin-act.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { StoreReader } from '../../store/store.ts'
import { sealedAgents, type SealedFile } from './sealed-file.ts'

/** Whom a file is sealed for. Throws the AdminRefusal of a file that is sealed for somebody else than agents. */
export async function listSealedHostnames(
  reader: StoreReader,
  file: SealedFile,
): Promise<readonly string[]> {
  const hostnames: string[] = []
  for await (const agents of sealedAgents(reader, file)) {
    hostnames.push(...agents.map(({ hostname }) => hostname))
  }
  return hostnames
}

/** Throws an AdminRefusal when a file is not sealed for exactly the agents that have an entrega, named by `hostnames`. */
export function refuseOtherAddressees(
  { name }: Cargo,
  {
    sealedFor,
    hostnames,
  }: { readonly sealedFor: readonly string[]; readonly hostnames: readonly string[] },
): void {
  const readers = new Set(sealedFor)
  const holders = new Set(hostnames)
  const missing = hostnames.filter((hostname) => !readers.has(hostname))
  const unwanted = sealedFor.filter((hostname) => !holders.has(hostname))
  if (missing.length + unwanted.length === 0) return
  const differences = [
    ...(missing.length === 0 ? [] : [`not sealed for ${missing.join(', ')}`]),
    ...(unwanted.length === 0 ? [] : [`sealed for ${unwanted.join(', ')}, without a delivery`]),
  ]
  throw new AdminRefusal(
    'recipients_incomplete',
    `the file is not sealed for exactly the agents of load ${name}: ${differences.join('; ')}`,
  )
}
