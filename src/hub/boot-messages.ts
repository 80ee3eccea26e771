// The boot log, in this order; operators and their tools wait for these lines, so they never change.

export const bootMessages = {
  starting: 'starting',
  locked: 'vault lock acquired',
  unsealed: 'vault unsealed',
  schemaVerified: 'schema verified',
  caReady: 'CA client ready',
  certificateReused: 'server certificate reused',
  certificateCreated: 'server certificate created',
  healthListening: 'health listening',
  enrollListening: 'enroll listening',
  mtlsListening: 'mtls listening',
  adminListening: 'admin listening',
  metricsListening: 'metrics listening',
} as const
