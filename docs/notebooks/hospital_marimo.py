import marimo

app = marimo.App()


@app.cell
def _():
    import shoal
    from shoal.sample.hospital import hospital_table

    patients = hospital_table(600).select("name", "age", "sex", "postcode", "diagnosis")
    return patients, shoal


@app.cell
def _(patients, shoal):
    result = shoal.anonymize(
        patients,
        quasi=["age", "sex", "postcode"],
        sensitive=["diagnosis"],
        identifiers=["name"],
        k=10,
        algorithm="mondrian",  # quick; leave the line out for the least loss
        hierarchies={"postcode": {"builder": "prefix"}},
    )
    result
    return (result,)


@app.cell
def _(result):
    result.frontier([2, 5, 10, 20, 50])
    return


if __name__ == "__main__":
    app.run()
