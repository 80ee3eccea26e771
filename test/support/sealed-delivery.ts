// A file that is sealed for an agent in this process, at the fake hub.

import { ensureAgeKey } from '../../src/agent/identity/age-key.ts'
import type { EventRequestBody, ManifestEntryBody } from '../../src/protocol/schemas.ts'
import { sealFor } from '../../src/sealing/sealed-file.ts'
import type { FakeHub } from '../fakes/hub-server.ts'
import { type AgentHost, manifestEntry } from './agent-host.ts'

/** Seals `content` for the host and puts it at the hub, as a new delivery or that of a cargo's next version. */
export async function deliverSealed(
  { hub, host }: { hub: FakeHub; host: AgentHost },
  content: string | Uint8Array,
  fields: Partial<ManifestEntryBody> = {},
): Promise<ManifestEntryBody> {
  const { recipient } = await ensureAgeKey(host.paths.ageKeyFile, host.clock)
  const entry = manifestEntry({ tipo: 'selado', nome: 'site.conf', ...fields })
  hub.blobs.set(entry.carga_id, await sealFor([recipient], Buffer.from(content)))
  hub.entregas.push(entry)
  return entry
}

/** The reports that a file is in place. */
export function deliveredEvents(hub: FakeHub): EventRequestBody[] {
  return hub.events.filter(({ tipo_evento: type }) => type === 'entrega_entregue')
}
