// The audit log as an outsider sees it.

import type { HubPlace, TestHub } from './hub.ts'
import { runTool, waitUntil } from './processes.ts'

export interface LoggedEvent {
  readonly seq: number
  readonly id: string
  readonly agente_id: string | null
  readonly tipo_evento: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly payload_text: string
  readonly entrega_id: string | null
  readonly request_id: string | null
  readonly timestamp: string
  readonly hash_anterior: string
  readonly hash_atual: string
}

const PAGE = 500
const LONG_MS = 90_000

interface Named {
  readonly hostname: string
}

/** All entries, those of a type or those of a host alone, oldest first. */
export async function readEvents(
  hub: Pick<HubPlace, 'admin'>,
  tipo?: string,
  host?: Named,
): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = []
  for (;;) {
    const after = events.at(-1)?.seq ?? 0
    const page = await hub.admin<{ eventos: LoggedEvent[] }>('POST', '/v1/admin/eventos/list', {
      after,
      limit: PAGE,
      ...(tipo === undefined ? {} : { tipo }),
      ...(host === undefined ? {} : { agente: host.hostname }),
    })
    events.push(...page.eventos)
    if (page.eventos.length < PAGE) return events
  }
}

/** The first such entry of a host, as soon as there is one. */
export function waitForEvent(
  hub: TestHub,
  tipo: string,
  host: Named,
  isWanted: (event: LoggedEvent) => boolean = () => true,
): Promise<LoggedEvent> {
  const find = async () => (await readEvents(hub, tipo, host)).find(isWanted)
  return waitUntil(`${tipo} of ${host.hostname}`, find, LONG_MS)
}

/** SHA-256 as the sha256sum program computes it. */
export async function sha256sum(text: string): Promise<string> {
  return (await runTool('sha256sum', [], text)).slice(0, 64)
}
