/** Rings as entries do, and no entry tells it: an agent that connects, or no longer is connected. */
export const PRESENCE = 'presence'
