// Whether this page may seal: svc served it, or a hub whose operator permits it. docs/protocol.md LOC-7, CON-5.

import { type ConsoleSealing, SEALING_ROUTE } from '../../protocol/admin/sealing-route.ts'
import { askOwnServer, findLocalConsole } from './local-console.ts'

export type SealingPlace =
  | { readonly servedBy: 'svc'; readonly hub: string }
  | { readonly servedBy: 'hub'; readonly isPermitted: boolean }

export async function findSealingPlace(): Promise<SealingPlace> {
  const local = await findLocalConsole()
  if (local !== undefined) return { servedBy: 'svc', hub: local.hub }
  const { method, path } = SEALING_ROUTE
  const { sealing } = (await askOwnServer(method, path)) as ConsoleSealing
  return { servedBy: 'hub', isPermitted: sealing }
}
