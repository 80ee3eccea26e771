// How the hub's two ports are reached: over the network, or by whatever stands in for it.

import { createEnrollClient, type EnrollClient, type EnrollClientOptions } from './enroll-client.ts'
import { createHubClient, type HubClient, type HubClientOptions } from './hub-client.ts'

export interface HubConnections {
  createHubClient(this: void, options: HubClientOptions): HubClient
  createEnrollClient(this: void, options: EnrollClientOptions): EnrollClient
}

export const networkConnections: HubConnections = { createHubClient, createEnrollClient }
