{{- define "limes.labels" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/part-of: {{ .root.Release.Name }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{/* The port of a process: what follows the last colon of its `listen`. */}}
{{- define "limes.port" -}}
{{- splitList ":" (index .root.Values.config .process).listen | last -}}
{{- end }}

{{- define "limes.config" -}}
limes.yaml: |
  {{- toYaml .Values.config | nindent 2 }}
{{- range $name, $text := .Values.configFiles }}
{{ $name }}: |
  {{- $text | nindent 2 }}
{{- end }}
{{- end }}

{{/* Everything in a pod's specification that all processes share: root, args, config (the name of the ConfigMap), resources. */}}
{{- define "limes.pod" -}}
automountServiceAccountToken: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: limes
    image: {{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    args: {{ toJson .args }}
    env:
      {{- $secret := .root.Values.secretName | default .root.Release.Name }}
      - {name: LIMES_DB_PASSWORD, valueFrom: {secretKeyRef: {name: {{ $secret }}, key: database-password}}}
      - {name: LIMES_IDENTITY_PASSWORD, valueFrom: {secretKeyRef: {name: {{ $secret }}, key: identity-password}}}
      - {name: LIMES_AUDIT_RABBITMQ_PASSWORD, valueFrom: {secretKeyRef: {name: {{ $secret }}, key: rabbitmq-password}}}
      {{- with .root.Values.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- if .port }}
    ports: [{name: http, containerPort: {{ .port }}}]
    # Without a database the pod stays in the service: its own 503, or its metrics, say more than a service without pods.
    startupProbe: {httpGet: {path: /healthcheck, port: http}, periodSeconds: 2, failureThreshold: 60}
    readinessProbe: {httpGet: {path: "/healthcheck?only=process", port: http}, periodSeconds: 10, timeoutSeconds: 5}
    livenessProbe: {tcpSocket: {port: http}, periodSeconds: 20, timeoutSeconds: 5}
    {{- end }}
    resources: {{- toYaml .resources | nindent 6 }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: {drop: [ALL]}
    volumeMounts:
      - {name: config, mountPath: /etc/limes, readOnly: true}
      - {name: tmp, mountPath: /tmp}
volumes:
  - {name: config, configMap: {name: {{ .config }}}}
  - {name: tmp, emptyDir: {}}
{{- end }}
