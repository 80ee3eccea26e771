// How the hub's two ports are reached: over the network, or by whatever stands in for it.

import { createEnrollClient, type EnrollClient, type EnrollClientOptions } from './enroll-client.ts'
import { createHubClient, type HubClient, type HubClientOptions } from './client.ts'
import { type HubStreamOptions, type HubStreamReply, openHubStream } from './hub-stream.ts'

export interface HubConnections {
  createHubClient(this: void, options: HubClientOptions): HubClient
  createEnrollClient(this: void, options: EnrollClientOptions): EnrollClient
  openStream(this: void, options: HubStreamOptions): Promise<HubStreamReply>
}

export const networkConnections: HubConnections = {
  createHubClient,
  createEnrollClient,
  openStream: openHubStream,
}
