# a server of a project that Keystone does not know
export LIMES_CONFIG=config/quickstart.yaml
curl -s -f -X PUT -H 'X-Auth-Token: cloud-admin' -H 'OpenStack-API-Version: placement 1.38' \
  -H 'Content-Type: application/json' http://127.0.0.1:8778/allocations/f0000000-0000-4000-8000-000000000001 -d '{
    "allocations": {"c0000000-0000-4000-8000-000000000001": {"resources": {"VCPU": 2, "MEMORY_MB": 512}}},
    "project_id": "1a0000000000000000000000000000ff", "user_id": "me", "consumer_generation": null,
    "consumer_type": "INSTANCE"}'
