# limes.yaml, with a new database
sed s/quickstart.db/new.db/ config/quickstart.yaml > limes.yaml
limes db upgrade --config limes.yaml
