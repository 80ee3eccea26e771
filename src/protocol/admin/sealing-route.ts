// Whether the page that a hub serves may seal: its operator says so by SVC_CONSOLE_SEALING. docs/protocol.md CON-5.

export const SEALING_ROUTE = { method: 'GET', path: '/v1/console/sealing' } as const

export interface ConsoleSealing {
  readonly sealing: boolean
}
